use std::fmt;
use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::head::Template;

/// The slab number of a body that Node sends.
pub const NO_SLAB: u32 = u32::MAX;

/// A typical build has fewer than ten layouts.
const MAX_LAYOUTS: usize = 0xffff;
/// The numbers of the index's header, of a resource, of a representation and of a template.
pub const HEADER: usize = 4;
pub const RESOURCE: usize = 10;
pub const REPRESENTATION: usize = 6;
pub const TEMPLATE: usize = 4;
pub const FLAG_HAS_DELTAS: u32 = 1;
pub const FLAG_HAS_HINTS: u32 = 2;
const FLAGS: u32 = FLAG_HAS_DELTAS | FLAG_HAS_HINTS;
/// The number of the rule that protects a resource follows the flags.
pub const RULE_SHIFT: u32 = 8;

/// The reason why a table is invalid, and the number of the invalid part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableError {
    /// The length of the index differs from the length that its counts require.
    Index,
    /// A resource refers to a position outside the table, or has an unknown flag or rule.
    Resource(usize),
    /// Another resource has the same path as this one.
    Path(usize),
    /// A representation refers to a position outside the table.
    Representation(usize),
    /// A template refers to a position outside the table, or does not end with CRLF.
    Template(usize),
    /// The choices do not have one byte per layout, or refer to a missing representation.
    Choices,
    /// The codings are empty, too many, too long or not unique.
    Codings,
}

impl fmt::Display for TableError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index => write!(
                formatter,
                "the length of the index does not match its counts"
            ),
            Self::Resource(at) => write!(
                formatter,
                "resource {at} refers to a position outside the table"
            ),
            Self::Path(at) => write!(formatter, "the path of resource {at} is not unique"),
            Self::Representation(at) => {
                write!(
                    formatter,
                    "representation {at} refers to a position outside the table"
                )
            }
            Self::Template(at) => write!(formatter, "template {at} is invalid"),
            Self::Choices => write!(formatter, "the choices do not match the layouts"),
            Self::Codings => write!(
                formatter,
                "the codings are empty, too many, too long or not unique"
            ),
        }
    }
}

impl std::error::Error for TableError {}

/// The number of the next build. 0 means no build.
static BUILDS: AtomicU64 = AtomicU64::new(1);

/// The part that all copies share after they learn new values.
pub struct Build {
    pub number: u64,
    pub text: Bytes,
    pub slabs: Vec<Bytes>,
    files: u32,
    pub resources: Vec<Resource>,
    pub representations: Vec<Representation>,
    pub templates: Vec<Templates>,
    /// The minimum number of representations of the resources of each layout. Choices must be smaller.
    pub layouts: Vec<u32>,
    paths: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

/// A range of the text or of a slab.
#[derive(Clone, Copy)]
pub struct Span {
    start: u32,
    pub length: u32,
}

pub struct Resource {
    path: Span,
    pub last_modified: Span,
    pub dictionary: Span,
    pub first: u32,
    pub layout: u16,
    pub has_deltas: bool,
    pub has_hints: bool,
    /// The number of the rule that protects the resource. 0 means none.
    pub rule: u16,
}

pub struct Representation {
    pub template: u32,
    pub tag: Span,
    /// The number of a slab, or of a file after the slabs, or [`NO_SLAB`].
    pub slab: u32,
    pub body: Span,
}

/// The two head templates of a representation.
pub struct Templates {
    pub ok: Template,
    pub not_modified: Template,
}

impl Build {
    /// Checks the numbers of an index. `TableParts` documents the parameters.
    pub fn new(
        text: Bytes,
        index: &[u32],
        slabs: Vec<Bytes>,
        files: u32,
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
        let (rule, flags) = (flags >> RULE_SHIFT, flags & ((1 << RULE_SHIFT) - 1));
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
            rule: u16::try_from(rule).ok()?,
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

    /// Returns the number of the resource with this path.
    pub fn find(&self, path: &[u8]) -> Option<usize> {
        let is_path = |&at: &u32| self.text(self.resources[at as usize].path) == path;
        self.paths
            .find(self.hasher.hash_one(path), is_path)
            .map(|&at| at as usize)
    }

    pub fn text(&self, span: Span) -> &[u8] {
        &self.text[span.range()]
    }
}

impl Span {
    fn is_within(self, bytes: &[u8]) -> bool {
        self.start as usize + self.length as usize <= bytes.len()
    }

    pub fn range(self) -> Range<usize> {
        let start = self.start as usize;
        start..start + self.length as usize
    }
}

/// Splits off `count` rows of `row` numbers, and returns them with the remaining numbers.
fn split_rows(index: &[u32], count: usize, row: usize) -> Result<(&[u32], &[u32]), TableError> {
    let end = count.checked_mul(row).ok_or(TableError::Index)?;
    index.split_at_checked(end).ok_or(TableError::Index)
}
