use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use hashbrown::HashMap;

use crate::accepted_values::AcceptedValues;
use crate::answer::{Answer, Kind};
use crate::build_index::{Build, NO_SLAB, Representation, Resource, TableError};
use crate::clock::Clock;
use crate::fields::Fields;
use crate::head::{Head, Values};

/// The choice that means that Node answers.
pub const NODE_CHOICE: u8 = 255;
/// The maximum number of known values of `Accept-Encoding`, not counting its absence.
pub const MAX_CODINGS: usize = 256;
/// The maximum length of a known value of `Accept-Encoding`.
pub const MAX_CODING: usize = 256;

/// The answers of one build, as TypeScript passes them. `EngineTable` in `binding.ts` documents the numbers.
#[derive(Clone, Debug, Default)]
pub struct TableParts {
    /// Paths, templates of heads, and values.
    pub text: Bytes,
    /// The positions of all parts.
    pub index: Vec<u32>,
    /// The bodies in memory.
    pub slabs: Vec<Bytes>,
    /// The number of files with bodies that are not in memory. Their numbers follow those of the slabs.
    pub files: u32,
    /// The known values of `Accept-Encoding`. The first one represents its absence.
    pub codings: Vec<Vec<u8>>,
    /// For each coding and each layout, the index of the representation within its resource, or [`NODE_CHOICE`].
    pub choices: Vec<u8>,
}

/// The checked answers of one build, and the choices between representations.
#[derive(Clone)]
pub struct Table {
    build: Arc<Build>,
    codings: Arc<HashMap<Arc<[u8]>, usize>>,
    choices: Vec<u8>,
    /// For each rule that protects resources, the accepted values of `Authorization`.
    authorizations: Vec<AcceptedValues>,
}

/// The parts of an answer in the order in which the engine writes them.
#[derive(Debug)]
pub struct Parts<'a> {
    /// The status line and the fields.
    pub head: Head<'a>,
    /// `Date`, the connection fields and the empty line.
    pub tail: &'a [u8],
    /// The body. Empty for HEAD and 304.
    pub body: &'a [u8],
    slab: Option<&'a Bytes>,
}

impl Parts<'_> {
    /// Returns the body from `start` on, valid after the table is replaced.
    ///
    /// It increments a reference count that all threads share. Therefore call it only for unsent bytes.
    pub fn rest_of_body(&self, start: usize) -> Bytes {
        let rest = &self.body[start..];
        self.slab
            .map_or_else(Bytes::new, |slab| slab.slice_ref(rest))
    }
}

impl Table {
    /// Checks all numbers, so that later accesses are within bounds.
    pub fn new(parts: TableParts) -> Result<Self, TableError> {
        let build = Build::new(parts.text, &parts.index, parts.slabs, parts.files)?;
        let layouts = build.layouts.len();
        if parts.codings.is_empty() || parts.codings.len() > MAX_CODINGS + 1 {
            return Err(TableError::Codings);
        }
        if parts.choices.len() != parts.codings.len() * layouts {
            return Err(TableError::Choices);
        }
        let rules = build.resources.iter().map(|resource| resource.rule).max();
        let mut table = Self {
            authorizations: vec![AcceptedValues::default(); rules.unwrap_or(0).into()],
            build: Arc::new(build),
            codings: Arc::default(),
            choices: Vec::new(),
        };
        for (position, coding) in parts.codings.iter().enumerate() {
            table.add(
                position,
                coding,
                &parts.choices[position * layouts..][..layouts],
            )?;
        }
        Ok(table)
    }

    /// Returns a copy that also knows this value of `Accept-Encoding`. `choices` has one byte per layout.
    pub fn with_coding(&self, value: &[u8], choices: &[u8]) -> Result<Self, TableError> {
        let mut table = self.clone();
        if let Some(&position) = table.codings.get(value) {
            table.check_choices(choices)?;
            table.choices[position * choices.len()..][..choices.len()].copy_from_slice(choices);
        } else {
            table.add(table.codings.len() + 1, value, choices)?;
        }
        Ok(table)
    }

    /// Returns a copy that only knows the absence of `Accept-Encoding`.
    pub fn without_codings(&self) -> Self {
        Self {
            codings: Arc::default(),
            choices: self.choices[..self.build.layouts.len()].to_vec(),
            ..self.clone()
        }
    }

    /// Returns a copy in which this value of `Authorization` opens the resources of a rule. Returns `None` if nothing
    /// changes.
    pub fn with_authorization(&self, rule: usize, value: &[u8]) -> Option<Self> {
        let at = rule.checked_sub(1)?;
        let mut accepted = self.authorizations.get(at)?.clone();
        if !accepted.learn(value) {
            return None;
        }
        let mut table = self.clone();
        table.authorizations[at] = accepted;
        Some(table)
    }

    /// Returns the number of the build, which is unique in the process.
    pub fn build(&self) -> u64 {
        self.build.number
    }

    /// Returns the parts of an answer. `closes` selects `Connection: close`.
    pub fn parts<'a>(&'a self, answer: &Answer, clock: &'a Clock, closes: bool) -> Parts<'a> {
        let build = &*self.build;
        let resource = &build.resources[answer.resource];
        let representation = &build.representations[answer.representation];
        let templates = &build.templates[representation.template as usize];
        let values = Values {
            tag: build.text(representation.tag),
            length: representation.body.length,
            last_modified: build.text(resource.last_modified),
            dictionary: build.text(resource.dictionary),
        };
        let template = match answer.kind {
            Kind::Ok => &templates.ok,
            Kind::NotModified => &templates.not_modified,
        };
        let slab = build
            .slabs
            .get(representation.slab as usize)
            .filter(|_| answer.with_body);
        Parts {
            head: template.with_values(&build.text, values),
            tail: clock.tail(closes),
            body: slab.map_or(&[], |slab| &slab[representation.body.range()]),
            slab,
        }
    }

    /// Returns the number of a representation's templates.
    pub fn template(&self, representation: usize) -> usize {
        self.build.representations[representation].template as usize
    }

    /// Returns the bodies in memory, each with the number of its representation.
    pub fn bodies(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let build = &*self.build;
        let bodies = build.representations.iter().enumerate();
        bodies.filter_map(|(number, Representation { slab, body, .. })| {
            let slab = build.slabs.get(*slab as usize)?;
            Some((number, &slab[body.range()]))
        })
    }

    /// Returns the number and the length of the file that the answer sends. Returns `None` if it sends no file.
    pub fn file(&self, answer: &Answer) -> Option<(usize, u64)> {
        let Representation { slab, body, .. } = &self.build.representations[answer.representation];
        let number = (*slab as usize).checked_sub(self.build.slabs.len())?;
        answer.with_body.then_some((number, u64::from(body.length)))
    }

    /// Returns the number of representations.
    pub fn representations(&self) -> usize {
        self.build.representations.len()
    }

    /// Returns whether both tables have the same bodies at the same addresses, under the same numbers.
    pub fn has_bodies_of(&self, other: &Self) -> bool {
        fn position((number, body): (usize, &[u8])) -> (usize, *const u8, usize) {
            (number, body.as_ptr(), body.len())
        }
        self.representations() == other.representations()
            && self.bodies().map(position).eq(other.bodies().map(position))
    }

    pub(crate) fn find(&self, path: &[u8]) -> Option<usize> {
        self.build.find(path)
    }

    /// Returns whether Node must answer, because of a delta or of credentials that it has not accepted.
    pub(crate) fn needs_node(&self, resource: usize, fields: &Fields) -> bool {
        let Resource {
            has_deltas, rule, ..
        } = self.build.resources[resource];
        let is_open = rule == 0
            || fields
                .authorization
                .is_some_and(|value| self.authorizations[usize::from(rule) - 1].contains(value));
        !is_open || fields.offers_dictionary && has_deltas
    }

    /// Returns whether a 103 precedes this answer over HTTP/2.
    pub(crate) fn has_hints(&self, answer: &Answer) -> bool {
        answer.with_body && self.build.resources[answer.resource].has_hints
    }

    /// Returns the representation for a value of `Accept-Encoding`, or `None` if Node must answer.
    pub(crate) fn choose(&self, resource: usize, coding: Option<&[u8]>) -> Option<usize> {
        let position = coding.map_or(Some(0), |value| self.codings.get(value).copied())?;
        let Resource { layout, first, .. } = self.build.resources[resource];
        let choice = self.choices[position * self.build.layouts.len() + usize::from(layout)];
        let chosen = first as usize + usize::from(choice);
        (choice != NODE_CHOICE && self.build.representations[chosen].slab != NO_SLAB)
            .then_some(chosen)
    }

    /// Returns the opaque tag with its quotes.
    pub(crate) fn tag(&self, representation: usize) -> &[u8] {
        self.build
            .text(self.build.representations[representation].tag)
    }

    /// Returns the value of `Last-Modified`, or an empty slice.
    pub(crate) fn last_modified(&self, resource: usize) -> &[u8] {
        self.build
            .text(self.build.resources[resource].last_modified)
    }

    /// Adds a coding. Position 0 represents the absence of the field.
    fn add(&mut self, position: usize, value: &[u8], choices: &[u8]) -> Result<(), TableError> {
        self.check_choices(choices)?;
        if position > 0 {
            let is_new =
                !value.is_empty() && value.len() <= MAX_CODING && self.codings.len() < MAX_CODINGS;
            if !is_new || self.codings.contains_key(value) {
                return Err(TableError::Codings);
            }
            Arc::make_mut(&mut self.codings).insert(value.into(), position);
        }
        self.choices.extend_from_slice(choices);
        Ok(())
    }

    fn check_choices(&self, choices: &[u8]) -> Result<(), TableError> {
        let layouts = &self.build.layouts;
        let fits =
            |(&choice, &minimum): (&u8, &u32)| choice == NODE_CHOICE || u32::from(choice) < minimum;
        let fit = choices.len() == layouts.len() && choices.iter().zip(layouts).all(fits);
        fit.then_some(()).ok_or(TableError::Choices)
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Table")
            .field("resources", &self.build.resources.len())
            .field("codings", &self.codings.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
