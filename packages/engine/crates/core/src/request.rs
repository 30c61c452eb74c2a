use std::mem::MaybeUninit;

use httparse::{Request, Status};

use crate::fields::Fields;
use crate::hosts::Hosts;
use crate::table::Table;

/// How long a head may be; a longer one is Node's.
pub const MAX_HEAD: usize = 16 * 1024;
/// How many fields a head may have; one with more is Node's.
pub const MAX_FIELDS: usize = 64;

/// Of all that Node's parser knows, the methods whose request is a head and a body of `Content-Length`. Others are left
/// to Node with their connection: CONNECT makes a tunnel, and what is no method gets a 400.
const METHODS: [&[u8]; 7] = [
    b"GET", b"HEAD", b"POST", b"PUT", b"PATCH", b"DELETE", b"OPTIONS",
];

/// As many digits fit into a number that JavaScript can hold.
const MAX_DIGITS: usize = 15;

/// What is to be done with the bytes that have come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The head is not whole: read on. Never for more than [`MAX_HEAD`] bytes.
    Partial,
    /// The engine answers.
    Answer(Answer),
    /// Node answers.
    HandOver {
        /// Length of the head; of all that has come, where the head is malformed.
        head: usize,
        /// Where the request ends.
        end: RequestEnd,
    },
}

/// An answer that the table has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Length of the head, which is the whole request; 0 over HTTP/2.
    pub consumed: usize,
    /// Number of the resource in the table.
    pub resource: usize,
    /// Number of the representation in the table.
    pub representation: usize,
    /// Which of its two heads is sent.
    pub kind: Kind,
    /// Whether its body is sent, too.
    pub with_body: bool,
    /// Whether the client asked for the connection to be closed after it; never over HTTP/2.
    pub closes: bool,
}

impl Answer {
    /// Where its request ends, should Node answer it.
    pub fn request_end(&self) -> RequestEnd {
        if self.closes {
            RequestEnd::Open
        } else {
            RequestEnd::Plain { body: 0 }
        }
    }
}

/// The status of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 200
    Ok,
    /// 304
    NotModified,
}

/// Where a request that is handed over ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestEnd {
    /// So many bytes after its head; then the connection may come back.
    Plain {
        /// Length of the body.
        body: u64,
    },
    /// Only Node can tell: the connection is Node's for good.
    Open,
}

/// A request over HTTP/2 that has no body, without its fields.
#[derive(Clone, Copy, Debug)]
pub struct BareRequest<'a> {
    /// `:method`
    pub method: &'a str,
    /// `:path`
    pub target: &'a [u8],
    /// `:authority`
    pub authority: Option<&'a [u8]>,
}

/// Decides about a request over HTTP/2 as [`decide`] does; `None` where Node answers, as it does with bodies of files
/// and after a 103.
pub fn decide_fields<'a>(
    request: BareRequest<'a>,
    fields: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    (table, hosts): (&Table, &Hosts),
) -> Option<Answer> {
    // It stands for `Host` (RFC 9113 §8.3.1), and is a second one beside it.
    let host = request.authority.map(|host| (&b"host"[..], host));
    let head = Head {
        length: 0,
        method: request.method,
        target: request.target,
        fields: Fields::read(host.into_iter().chain(fields)),
    };
    head.answer(table, hosts)
        .filter(|answer| table.file(answer).is_none() && !table.has_hints(answer))
}

/// Decides about the first request in what has come: a pure function. What comes behind it changes nothing.
pub fn decide(input: &[u8], table: &Table, hosts: &Hosts) -> Step {
    let mut space = [const { MaybeUninit::uninit() }; MAX_FIELDS];
    let mut request = Request::new(&mut []);
    match request.parse_with_uninit_headers(input, &mut space) {
        Ok(Status::Complete(head)) if has_valid_lines(&input[..head]) => {
            let head = Head::of(&input[..head], &request);
            head.answer(table, hosts)
                .map_or_else(|| head.hand_over(), Step::Answer)
        }
        Ok(Status::Partial) if has_valid_lines(input) && begins_with_method(input) => Step::Partial,
        _ => Step::HandOver {
            head: input.len(),
            end: RequestEnd::Open,
        },
    }
}

/// Not too long, and without an LF that has no CR before it: `httparse` accepts these, Node does not.
fn has_valid_lines(bytes: &[u8]) -> bool {
    let follows_cr = |at: usize| at > 0 && bytes[at - 1] == b'\r';
    bytes.len() <= MAX_HEAD && memchr::memchr_iter(b'\n', bytes).all(follows_cr)
}

/// Node refuses what cannot become a method without waiting for the rest.
fn begins_with_method(input: &[u8]) -> bool {
    let start = input
        .iter()
        .position(|byte| !b"\r\n".contains(byte))
        .unwrap_or(input.len());
    let input = &input[start..];
    match memchr::memchr(b' ', input) {
        Some(end) => METHODS.contains(&&input[..end]),
        None => METHODS.iter().any(|method| method.starts_with(input)),
    }
}

/// The head of a request, in whichever version of HTTP it came.
struct Head<'a> {
    length: usize,
    method: &'a str,
    target: &'a [u8],
    fields: Fields<'a>,
}

impl<'a> Head<'a> {
    /// What `httparse` accepts, in lines that end as they should.
    fn of(bytes: &'a [u8], request: &Request<'_, 'a>) -> Self {
        let lines = request.headers.iter();
        let mut fields = Fields::read(lines.map(|line| (line.name.as_bytes(), line.value)));
        fields.has_unknown_end |= request.version != Some(1);
        // Behind an empty line; or with a tab, which `httparse` takes from the end of a value, and Node does not.
        fields.needs_node |= bytes.starts_with(b"\r") || memchr::memchr(b'\t', bytes).is_some();
        Self {
            length: bytes.len(),
            method: request.method.unwrap_or_default(),
            target: request.path.unwrap_or_default().as_bytes(),
            fields,
        }
    }

    fn hand_over(&self) -> Step {
        Step::HandOver {
            head: self.length,
            end: self.request_end(),
        }
    }

    /// Where the request ends (RFC 9112 §6.3), as far as everybody reads it alike.
    fn request_end(&self) -> RequestEnd {
        let Fields {
            connection,
            content_length,
            has_unknown_end,
            ..
        } = self.fields;
        let is_known = METHODS.contains(&self.method.as_bytes());
        let is_kept = connection.is_none_or(|value| closes(value) == Some(false));
        match content_length.map_or(Some(0), digits) {
            Some(body) if is_known && is_kept && !has_unknown_end => RequestEnd::Plain { body },
            _ => RequestEnd::Open,
        }
    }

    /// The answer, where every row of the boundary holds.
    fn answer(&self, table: &Table, hosts: &Hosts) -> Option<Answer> {
        let fields = &self.fields;
        let closes = fields.connection.map_or(Some(false), closes)?;
        if !self.is_plain_request() || !hosts.contains(fields.host?) {
            return None;
        }
        let resource = table.find(plain_path(self.target)?)?;
        if table.needs_node(resource, fields.offers_dictionary) {
            return None;
        }
        let representation = table.choose(resource, fields.accept_encoding)?;
        let kind = precondition(
            fields,
            table.tag(representation),
            table.last_modified(resource),
        )?;
        let with_body = self.method == "GET" && kind == Kind::Ok;
        Some(Answer {
            consumed: self.length,
            resource,
            representation,
            kind,
            with_body,
            closes,
        })
    }

    fn is_plain_request(&self) -> bool {
        let Fields {
            content_length,
            needs_node,
            has_unknown_end,
            ..
        } = self.fields;
        let is_plain = matches!(self.method, "GET" | "HEAD");
        is_plain && content_length.is_none() && !needs_node && !has_unknown_end
    }
}

/// RFC 9110 §8.6: digits alone.
fn digits(value: &[u8]) -> Option<u64> {
    let is_number =
        !value.is_empty() && value.len() <= MAX_DIGITS && value.iter().all(u8::is_ascii_digit);
    is_number.then(|| {
        value
            .iter()
            .fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
    })
}

/// RFC 9110 §7.6.1: options of a connection are case-insensitive.
fn closes(connection: &[u8]) -> Option<bool> {
    if connection.eq_ignore_ascii_case(b"keep-alive") {
        Some(false)
    } else if connection.eq_ignore_ascii_case(b"close") {
        Some(true)
    } else {
        None
    }
}

/// A target without its query; none for one with a fragment, or with octets that Node may read as something else.
fn plain_path(target: &[u8]) -> Option<&[u8]> {
    let is_plain = target
        .iter()
        .all(|&byte| byte.is_ascii_graphic() && byte != b'#');
    let end = memchr::memchr(b'?', target).unwrap_or(target.len());
    is_plain.then_some(&target[..end])
}

/// RFC 9110 §13.2.2 for the two fields, and for the values of them that need no grammar; `None` for all others.
fn precondition(fields: &Fields, tag: &[u8], last_modified: &[u8]) -> Option<Kind> {
    let is_same = match (fields.if_none_match, fields.if_modified_since) {
        (Some(field), _) => opaque_tag(field)? == tag,
        (None, Some(field)) if !field.is_empty() && field == last_modified => true,
        (None, Some(_)) => return None,
        (None, None) => false,
    };
    Some(if is_same { Kind::NotModified } else { Kind::Ok })
}

/// The one tag of a field without `W/` (RFC 9110 §8.8.3); a comma could be the one between two.
fn opaque_tag(field: &[u8]) -> Option<&[u8]> {
    let opaque = field.strip_prefix(b"W/").unwrap_or(field);
    let inner = opaque.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let is_tag = inner
        .iter()
        .all(|&byte| byte.is_ascii_graphic() && byte != b'"' && byte != b',');
    is_tag.then_some(opaque)
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
