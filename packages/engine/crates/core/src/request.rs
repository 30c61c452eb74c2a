use std::mem::MaybeUninit;

use httparse::{Request, Status};

use crate::accepted_values::AcceptedValues;
use crate::answer::{Answer, Kind, RequestEnd};
use crate::fields::Fields;
use crate::table::Table;

/// The maximum length of a head in bytes. Node handles longer heads.
pub const MAX_HEAD: usize = 16 * 1024;
/// The maximum number of fields. Node handles heads with more fields.
pub const MAX_FIELDS: usize = 64;

/// Methods whose requests consist of a head and a body of `Content-Length` bytes. Node handles all others and keeps the
/// connection: CONNECT opens a tunnel, and Node answers an unknown method with 400.
const METHODS: [&[u8]; 7] = [
    b"GET", b"HEAD", b"POST", b"PUT", b"PATCH", b"DELETE", b"OPTIONS",
];

/// JavaScript represents integers of 15 digits exactly.
const MAX_DIGITS: usize = 15;

/// The decision about the bytes received so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The head is incomplete, and the engine must read more. Never returned for more than [`MAX_HEAD`] bytes.
    Partial,
    /// The engine answers.
    Answer(Answer),
    /// Node answers.
    HandOver {
        /// The length of the head. If the head is malformed, the length of the whole input.
        head: usize,
        /// The end of the request.
        end: RequestEnd,
    },
}

/// The pseudo-header fields of an HTTP/2 request without a body.
#[derive(Clone, Copy, Debug)]
pub struct BareRequest<'a> {
    /// The value of `:method`.
    pub method: &'a str,
    /// The value of `:path`.
    pub target: &'a [u8],
    /// The value of `:authority`.
    pub authority: Option<&'a [u8]>,
}

/// Decides about an HTTP/2 request like [`decide`].
///
/// Returns `None` if Node must answer. Node also sends bodies of files, and answers that follow a 103.
pub fn decide_fields<'a>(
    request: BareRequest<'a>,
    fields: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    table: &Table,
    hosts: &AcceptedValues,
) -> Option<Answer> {
    // `:authority` replaces `Host` (RFC 9113 §8.3.1). If the request has both, `Fields` finds `host` twice.
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

/// Decides about the first request in `input`. Bytes after that request have no influence.
pub fn decide(input: &[u8], table: &Table, hosts: &AcceptedValues) -> Step {
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

/// Checks the length, and that each LF follows a CR. `httparse` accepts a bare LF, but Node does not.
fn has_valid_lines(bytes: &[u8]) -> bool {
    let follows_cr = |at: usize| at > 0 && bytes[at - 1] == b'\r';
    bytes.len() <= MAX_HEAD && memchr::memchr_iter(b'\n', bytes).all(follows_cr)
}

/// Node rejects an unknown method before the rest of the head arrives. Therefore the engine must not wait for it.
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

/// The head of a request of any HTTP version.
struct Head<'a> {
    length: usize,
    method: &'a str,
    target: &'a [u8],
    fields: Fields<'a>,
}

impl<'a> Head<'a> {
    /// Reads a head that `httparse` has accepted.
    fn of(bytes: &'a [u8], request: &Request<'_, 'a>) -> Self {
        let lines = request.headers.iter();
        let mut fields = Fields::read(lines.map(|line| (line.name.as_bytes(), line.value)));
        fields.has_unknown_end |= request.version != Some(1);
        // Node answers requests after an empty line. It also answers heads with a tab, because `httparse` trims tabs
        // and Node does not.
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

    /// Returns where the request ends (RFC 9112 §6.3). Returns `Open` if parsers could disagree.
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

    /// Returns the answer, or `None` if any condition requires Node.
    fn answer(&self, table: &Table, hosts: &AcceptedValues) -> Option<Answer> {
        let fields = &self.fields;
        let closes = fields.connection.map_or(Some(false), closes)?;
        if !self.is_plain_request() || !hosts.contains(fields.host?) {
            return None;
        }
        let resource = table.find(plain_path(self.target)?)?;
        if table.needs_node(resource, fields) {
            return None;
        }
        let representation = table.choose(resource, fields.accept_encoding)?;
        let kind = precondition(
            fields,
            table.tag(representation),
            table.last_modified(resource),
        )?;
        let with_body = self.method == "GET" && kind.has_body();
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

/// Parses `Content-Length` (RFC 9110 §8.6), which consists of digits only.
fn digits(value: &[u8]) -> Option<u64> {
    let is_number =
        !value.is_empty() && value.len() <= MAX_DIGITS && value.iter().all(u8::is_ascii_digit);
    is_number.then(|| {
        value
            .iter()
            .fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
    })
}

/// Returns whether the connection closes, or `None` for other options. Options are case-insensitive (RFC 9110 §7.6.1).
fn closes(connection: &[u8]) -> Option<bool> {
    if connection.eq_ignore_ascii_case(b"keep-alive") {
        Some(false)
    } else if connection.eq_ignore_ascii_case(b"close") {
        Some(true)
    } else {
        None
    }
}

/// Returns the target without its query. Returns `None` if it has a fragment or octets that Node may interpret
/// differently.
fn plain_path(target: &[u8]) -> Option<&[u8]> {
    let is_plain = target
        .iter()
        .all(|&byte| byte.is_ascii_graphic() && byte != b'#');
    let end = memchr::memchr(b'?', target).unwrap_or(target.len());
    is_plain.then_some(&target[..end])
}

/// Evaluates `If-None-Match` and `If-Modified-Since` (RFC 9110 §13.2.2). Returns `None` for values that require a
/// parser.
fn precondition(fields: &Fields, tag: &[u8], last_modified: &[u8]) -> Option<Kind> {
    let is_same = match (fields.if_none_match, fields.if_modified_since) {
        (Some(field), _) => opaque_tag(field)? == tag,
        (None, Some(field)) if !field.is_empty() && field == last_modified => true,
        (None, Some(_)) => return None,
        (None, None) => false,
    };
    Some(if is_same { Kind::NotModified } else { Kind::Ok })
}

/// Returns the single entity tag of a field, without `W/` (RFC 9110 §8.8.3). Rejects commas, because they separate
/// tags.
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
