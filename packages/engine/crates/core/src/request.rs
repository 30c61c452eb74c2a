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
    /// Length of the head, which is the whole request.
    pub consumed: usize,
    /// Number of the resource in the table.
    pub resource: usize,
    /// Number of the representation in the table.
    pub representation: usize,
    /// Which of its two heads is sent.
    pub kind: Kind,
    /// Whether its body is sent, too.
    pub with_body: bool,
    /// Whether the client asked for the connection to be closed after it.
    pub closes: bool,
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

/// Decides about the first request in what has come: a pure function. What comes behind it changes nothing.
pub fn decide(input: &[u8], table: &Table, hosts: &Hosts) -> Step {
    let mut space = [const { MaybeUninit::uninit() }; MAX_FIELDS];
    let mut request = Request::new(&mut []);
    match request.parse_with_uninit_headers(input, &mut space) {
        Ok(Status::Complete(head)) if is_of_whole_lines(&input[..head]) => {
            decide_head(&input[..head], &request, table, hosts)
        }
        Ok(Status::Partial) if is_of_whole_lines(input) && begins_with_method(input) => {
            Step::Partial
        }
        _ => Step::HandOver {
            head: input.len(),
            end: RequestEnd::Open,
        },
    }
}

/// Not too long, and without an LF that has no CR before it: `httparse` accepts these, Node does not.
fn is_of_whole_lines(bytes: &[u8]) -> bool {
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

fn decide_head(head: &[u8], request: &Request, table: &Table, hosts: &Hosts) -> Step {
    let fields = Fields::read(request.headers);
    let end = end_of(request, &fields);
    let begins_well = head[0] != b'\r';
    let answer = if begins_well {
        answer_to(head.len(), request, &fields, table, hosts)
    } else {
        None
    };
    answer.map_or(
        Step::HandOver {
            head: head.len(),
            end,
        },
        Step::Answer,
    )
}

/// Where a request ends whose head `httparse` accepts (RFC 9112 §6.3), as far as everybody reads it alike.
fn end_of(request: &Request, fields: &Fields) -> RequestEnd {
    let is_known = request
        .method
        .is_some_and(|method| METHODS.contains(&method.as_bytes()));
    let is_kept = fields
        .connection
        .is_none_or(|value| value.eq_ignore_ascii_case(b"keep-alive"));
    let body = fields.content_length.map_or(Some(0), digits);
    match body {
        Some(body) if is_known && is_kept && !fields.opens && request.version == Some(1) => {
            RequestEnd::Plain { body }
        }
        _ => RequestEnd::Open,
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

/// The answer, where every row of the boundary holds.
fn answer_to(
    head: usize,
    request: &Request,
    fields: &Fields,
    table: &Table,
    hosts: &Hosts,
) -> Option<Answer> {
    let is_head = match request.method? {
        "GET" => false,
        "HEAD" => true,
        _ => return None,
    };
    if fields.asks || fields.opens || fields.content_length.is_some() || request.version != Some(1)
    {
        return None;
    }
    let closes = fields.connection.map_or(Some(false), closes)?;
    if !fields.host.is_some_and(|host| hosts.knows(host)) {
        return None;
    }
    let resource = table.find(path_of(request.path?.as_bytes())?)?;
    if table.asks(resource, fields.offers_dictionary) {
        return None;
    }
    let representation = table.choose(resource, fields.accept_encoding)?;
    let kind = precondition(fields, table, resource, representation)?;
    let with_body = !is_head && kind == Kind::Ok;
    Some(Answer {
        consumed: head,
        resource,
        representation,
        kind,
        with_body,
        closes,
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

/// The path of a target in origin form without a fragment, in ASCII.
fn path_of(target: &[u8]) -> Option<&[u8]> {
    let is_plain = target[0] == b'/'
        && target
            .iter()
            .all(|&byte| byte.is_ascii_graphic() && byte != b'#');
    let end = memchr::memchr(b'?', target).unwrap_or(target.len());
    is_plain.then_some(&target[..end])
}

/// RFC 9110 §13.2.2 for the two fields and the values that need no grammar; `None` for all others.
fn precondition(
    fields: &Fields,
    table: &Table,
    resource: usize,
    representation: usize,
) -> Option<Kind> {
    let is_same = if let Some(field) = fields.if_none_match {
        opaque_tag(field)? == table.tag(representation)
    } else if let Some(field) = fields.if_modified_since {
        let is_ours = !field.is_empty() && field == table.last_modified(resource);
        is_ours.then_some(true)?
    } else {
        false
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
