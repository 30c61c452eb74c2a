use std::fmt;
use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use crate::clock::Clock;
use crate::head::{Head, Template, Values};
use crate::request::{Answer, Kind};

/// The choice that says: Node answers.
pub const NODE_CHOICE: u8 = 255;
/// The slab of a representation whose body is not in memory: Node answers.
pub const NO_SLAB: u32 = u32::MAX;
/// How many values of `Accept-Encoding` are known at most, beside its absence.
pub const MAX_CODINGS: usize = 256;
/// How long a value of `Accept-Encoding` may be.
pub const MAX_CODING: usize = 256;

/// A build has a handful.
const MAX_LAYOUTS: usize = 0xffff;
const HEADER: usize = 4;
const RESOURCE: usize = 10;
const REPRESENTATION: usize = 6;
const TEMPLATE: usize = 4;
const FLAG_HAS_DELTAS: u32 = 1;
const FLAG_HAS_HINTS: u32 = 2;
const FLAGS: u32 = FLAG_HAS_DELTAS | FLAG_HAS_HINTS;

/// The answers of one build as TypeScript hands them over; `EngineTable` in `binding.ts` says what the numbers mean.
#[derive(Clone, Debug, Default)]
pub struct TableParts {
    /// Paths, templates of heads, and their values.
    pub text: Bytes,
    /// Where they are.
    pub index: Vec<u32>,
    /// Memory of bodies.
    pub slabs: Vec<Bytes>,
    /// How many files there are whose bodies are not in memory: their numbers follow those of the slabs.
    pub files: u32,
    /// The known values of `Accept-Encoding`; the first stands for its absence.
    pub codings: Vec<Vec<u8>>,
    /// For each of them and each layout by turns: the place of the representation, or [`NODE_CHOICE`].
    pub choices: Vec<u8>,
}

/// What is wrong with a table, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableError {
    /// The index does not have as many numbers as it says.
    Index,
    /// A resource points outside of the table, or has a flag that is unknown.
    Resource(usize),
    /// Two resources have the path of this one.
    Path(usize),
    /// A representation points outside of the table.
    Representation(usize),
    /// A template points outside of the table, or does not end with a line's end.
    Template(usize),
    /// The choices are not one byte for each layout, or choose what a resource does not have.
    Choices,
    /// No coding stands for the absence of the field, one is too long, there are too many, or one is there twice.
    Codings,
}

impl fmt::Display for TableError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index => write!(
                formatter,
                "the index of the table has another length than it says"
            ),
            Self::Resource(at) => write!(formatter, "resource {at} points outside of the table"),
            Self::Path(at) => write!(formatter, "the path of resource {at} is there twice"),
            Self::Representation(at) => {
                write!(formatter, "representation {at} points outside of the table")
            }
            Self::Template(at) => write!(formatter, "template {at} is no head of the table"),
            Self::Choices => write!(formatter, "the choices do not fit the layouts"),
            Self::Codings => write!(
                formatter,
                "the codings are too many, too long or there twice"
            ),
        }
    }
}

impl std::error::Error for TableError {}

/// How many builds there have been; 0 is none of them.
static BUILDS: AtomicU64 = AtomicU64::new(1);

/// The answers of one build with the choices between them; every number in it was checked.
#[derive(Clone)]
pub struct Table {
    build: Arc<Build>,
    codings: Arc<HashMap<Arc<[u8]>, usize>>,
    choices: Vec<u8>,
}

/// What stays the same while codings are learned.
struct Build {
    number: u64,
    text: Bytes,
    slabs: Vec<Bytes>,
    files: u32,
    resources: Vec<Resource>,
    representations: Vec<Representation>,
    templates: Vec<Templates>,
    /// How many representations each resource of a layout has at least: no choice may be beyond.
    layouts: Vec<u32>,
    paths: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

/// Where something begins in the text or in a slab, and its length.
#[derive(Clone, Copy)]
struct Span {
    start: u32,
    length: u32,
}

struct Resource {
    path: Span,
    last_modified: Span,
    dictionary: Span,
    first: u32,
    layout: u16,
    has_deltas: bool,
    has_hints: bool,
}

struct Representation {
    template: u32,
    tag: Span,
    /// The number of a slab, or behind these of a file; [`NO_SLAB`]: Node answers.
    slab: u32,
    body: Span,
}

/// The two heads of representations.
struct Templates {
    ok: Template,
    not_modified: Template,
}

/// What an answer consists of, in the order in which it is written.
#[derive(Debug)]
pub struct Parts<'a> {
    /// Status line and fields.
    pub head: Head<'a>,
    /// `Date`, the fields of the connection and the empty line.
    pub tail: &'a [u8],
    /// Empty for HEAD and 304.
    pub body: &'a [u8],
    slab: Option<&'a Bytes>,
}

impl Parts<'_> {
    /// The body from this byte on, for a time when the table may be another: counted, which all threads would feel if it
    /// were done for each answer.
    pub fn rest_of_body(&self, start: usize) -> Bytes {
        let rest = &self.body[start..];
        self.slab
            .map_or_else(Bytes::new, |slab| slab.slice_ref(rest))
    }
}

impl Table {
    /// Checks every number once, so that nothing can be out of bounds later.
    pub fn new(parts: TableParts) -> Result<Self, TableError> {
        let build = Build::new(parts.text, &parts.index, (parts.slabs, parts.files))?;
        let layouts = build.layouts.len();
        if parts.codings.is_empty() || parts.codings.len() > MAX_CODINGS + 1 {
            return Err(TableError::Codings);
        }
        if parts.choices.len() != parts.codings.len() * layouts {
            return Err(TableError::Choices);
        }
        let mut table = Self {
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

    /// The same answers, with the choices for one more value of `Accept-Encoding`: one byte for each layout.
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

    /// The same answers, with no choices but those for the absence of `Accept-Encoding`.
    pub fn without_codings(&self) -> Self {
        Self {
            build: self.build.clone(),
            codings: Arc::default(),
            choices: self.choices[..self.build.layouts.len()].to_vec(),
        }
    }

    /// Tells its answers from those of every other build.
    pub fn build(&self) -> u64 {
        self.build.number
    }

    /// What is written for an answer of this table; `closes` where the connection ends with it.
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

    /// The number of the templates of a representation's heads.
    pub fn template(&self, representation: usize) -> usize {
        self.build.representations[representation].template as usize
    }

    /// The bodies that are in memory, each with the number of its representation.
    pub fn bodies(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let build = &*self.build;
        let bodies = build.representations.iter().enumerate();
        bodies.filter_map(|(number, Representation { slab, body, .. })| {
            let slab = build.slabs.get(*slab as usize)?;
            Some((number, &slab[body.range()]))
        })
    }

    /// The number of the file whose bytes an answer sends, and their count; `None` where they are in memory, or none.
    pub fn file(&self, answer: &Answer) -> Option<(usize, u64)> {
        let Representation { slab, body, .. } = &self.build.representations[answer.representation];
        let number = (*slab as usize).checked_sub(self.build.slabs.len())?;
        answer.with_body.then_some((number, u64::from(body.length)))
    }

    /// How many representations there are.
    pub fn representations(&self) -> usize {
        self.build.representations.len()
    }

    /// Whether the bodies of another table are the very memory of these, under the same numbers.
    pub fn has_bodies_of(&self, other: &Self) -> bool {
        fn position((number, body): (usize, &[u8])) -> (usize, *const u8, usize) {
            (number, body.as_ptr(), body.len())
        }
        self.representations() == other.representations()
            && self.bodies().map(position).eq(other.bodies().map(position))
    }

    pub(crate) fn find(&self, path: &[u8]) -> Option<usize> {
        let build = &*self.build;
        let is_path = |&at: &u32| build.text(build.resources[at as usize].path) == path;
        build
            .paths
            .find(build.hasher.hash_one(path), is_path)
            .map(|&at| at as usize)
    }

    /// Whether Node answers this resource; `offers_dictionary` where the request has `Available-Dictionary`.
    pub(crate) fn needs_node(&self, resource: usize, offers_dictionary: bool) -> bool {
        offers_dictionary && self.build.resources[resource].has_deltas
    }

    /// Whether a 103 precedes this answer over HTTP/2.
    pub(crate) fn has_hints(&self, answer: &Answer) -> bool {
        answer.with_body && self.build.resources[answer.resource].has_hints
    }

    /// The representation for a value of `Accept-Encoding`; `None` where Node chooses, or sends its body.
    pub(crate) fn choose(&self, resource: usize, coding: Option<&[u8]>) -> Option<usize> {
        let position = coding.map_or(Some(0), |value| self.codings.get(value).copied())?;
        let Resource { layout, first, .. } = self.build.resources[resource];
        let choice = self.choices[position * self.build.layouts.len() + usize::from(layout)];
        let chosen = first as usize + usize::from(choice);
        (choice != NODE_CHOICE && self.build.representations[chosen].slab != NO_SLAB)
            .then_some(chosen)
    }

    /// The opaque tag with its quotes.
    pub(crate) fn tag(&self, representation: usize) -> &[u8] {
        self.build
            .text(self.build.representations[representation].tag)
    }

    /// The text of `Last-Modified`; empty for none.
    pub(crate) fn last_modified(&self, resource: usize) -> &[u8] {
        self.build
            .text(self.build.resources[resource].last_modified)
    }

    /// Place 0 is the field's absence, which no value names.
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

impl Build {
    fn new(
        text: Bytes,
        index: &[u32],
        (slabs, files): (Vec<Bytes>, u32),
    ) -> Result<Self, TableError> {
        let (header, rest) = index.split_at_checked(HEADER).ok_or(TableError::Index)?;
        let [resources, representations, layouts, templates] =
            [header[0], header[1], header[2], header[3]].map(|count| count as usize);
        let (resource_rows, rest) = split_rows(rest, resources, RESOURCE)?;
        let (representation_rows, rest) = split_rows(rest, representations, REPRESENTATION)?;
        let (template_rows, rest) = split_rows(rest, templates, TEMPLATE)?;
        if !rest.is_empty() || layouts > MAX_LAYOUTS {
            return Err(TableError::Index);
        }
        let mut build = Self {
            number: BUILDS.fetch_add(1, Ordering::Relaxed),
            text,
            slabs,
            files,
            resources: Vec::with_capacity(resources),
            representations: Vec::with_capacity(representations),
            templates: Vec::with_capacity(templates),
            layouts: vec![u32::MAX; layouts],
            paths: HashTable::with_capacity(resources),
            hasher: DefaultHashBuilder::default(),
        };
        for (at, row) in template_rows.chunks_exact(TEMPLATE).enumerate() {
            let templates = build.read_templates(row).ok_or(TableError::Template(at))?;
            build.templates.push(templates);
        }
        for (at, row) in representation_rows.chunks_exact(REPRESENTATION).enumerate() {
            let representation = build
                .read_representation(row)
                .ok_or(TableError::Representation(at))?;
            build.representations.push(representation);
        }
        for (at, row) in resource_rows.chunks_exact(RESOURCE).enumerate() {
            let resource = build.read_resource(row).ok_or(TableError::Resource(at))?;
            build.add_path(at, resource.path)?;
            build.resources.push(resource);
        }
        Ok(build)
    }

    fn read_resource(&mut self, row: &[u32]) -> Option<Resource> {
        let &[
            path,
            path_length,
            layout,
            first,
            count,
            date,
            date_length,
            dictionary,
            dictionary_length,
            flags,
        ] = row
        else {
            return None;
        };
        let end = first.checked_add(count)?;
        if end as usize > self.representations.len() || flags & !FLAGS != 0 {
            return None;
        }
        let minimum = self.layouts.get_mut(layout as usize)?;
        *minimum = count.min(*minimum);
        Some(Resource {
            path: self.span(path, path_length)?,
            last_modified: self.span(date, date_length)?,
            dictionary: self.span(dictionary, dictionary_length)?,
            first,
            layout: u16::try_from(layout).ok()?,
            has_deltas: flags & FLAG_HAS_DELTAS != 0,
            has_hints: flags & FLAG_HAS_HINTS != 0,
        })
    }

    fn read_representation(&self, row: &[u32]) -> Option<Representation> {
        let &[template, tag, tag_length, slab, start, length] = row else {
            return None;
        };
        let body = Span { start, length };
        let has_body = match self.slabs.get(slab as usize) {
            Some(slab) => body.is_within(slab),
            None => slab == NO_SLAB || (slab as usize - self.slabs.len()) < self.files as usize,
        };
        let is_whole = has_body && (template as usize) < self.templates.len();
        is_whole.then_some(Representation {
            template,
            tag: self.span(tag, tag_length)?,
            slab,
            body,
        })
    }

    fn read_templates(&self, row: &[u32]) -> Option<Templates> {
        let &[ok, ok_length, not_modified, not_modified_length] = row else {
            return None;
        };
        let template = |start, length| {
            let span = self.span(start, length)?;
            Template::read(self.text(span), start)
        };
        Some(Templates {
            ok: template(ok, ok_length)?,
            not_modified: template(not_modified, not_modified_length)?,
        })
    }

    fn add_path(&mut self, at: usize, path: Span) -> Result<(), TableError> {
        let Self {
            text,
            resources,
            paths,
            hasher,
            ..
        } = self;
        let bytes = &text[path.range()];
        let number = u32::try_from(at).map_err(|_| TableError::Index)?;
        let path_of = |other: &u32| &text[resources[*other as usize].path.range()];
        let hash = hasher.hash_one(bytes);
        if paths.find(hash, |other| path_of(other) == bytes).is_some() {
            return Err(TableError::Path(at));
        }
        paths.insert_unique(hash, number, |other| hasher.hash_one(path_of(other)));
        Ok(())
    }

    fn span(&self, start: u32, length: u32) -> Option<Span> {
        let span = Span { start, length };
        span.is_within(&self.text).then_some(span)
    }

    fn text(&self, span: Span) -> &[u8] {
        &self.text[span.range()]
    }
}

impl Span {
    fn is_within(self, bytes: &[u8]) -> bool {
        self.start as usize + self.length as usize <= bytes.len()
    }

    fn range(self) -> Range<usize> {
        let start = self.start as usize;
        start..start + self.length as usize
    }
}

/// So many rows of so many numbers, and what is behind them.
fn split_rows(index: &[u32], count: usize, row: usize) -> Result<(&[u32], &[u32]), TableError> {
    let end = count.checked_mul(row).ok_or(TableError::Index)?;
    index.split_at_checked(end).ok_or(TableError::Index)
}

#[cfg(test)]
mod tests;
