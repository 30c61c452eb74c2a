//! Decides about random bytes with nearly random tables.
//!
//! The engine must not panic. It must not decide before a head is complete, and must not answer unsupported fields.
#![no_main]

use std::sync::LazyLock;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use serve_dist_core::{
    AcceptedValues, Clock, MAX_HEAD, NO_SLAB, RequestEnd, Step, Table, TableParts, decide,
};

#[path = "../../crates/core/src/testing.rs"]
mod testing;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    /// Replacements for numbers of the index.
    numbers: Vec<(u8, u32)>,
    learned: Option<(Vec<u8>, Vec<u8>)>,
    host: Vec<u8>,
    /// Lines after `Host`.
    lines: Vec<Line<'a>>,
    request: Request<'a>,
    cut: u16,
}

#[derive(Arbitrary, Debug)]
enum Request<'a> {
    Bytes(&'a [u8]),
    Line(Method, Target<'a>),
}

#[derive(Arbitrary, Debug)]
enum Method {
    Get,
    Head,
    Post,
    Connect,
}

#[derive(Arbitrary, Debug)]
enum Target<'a> {
    Sample(u8),
    Query(u8, &'a [u8]),
    Bytes(&'a [u8]),
}

#[derive(Arbitrary, Debug)]
enum Line<'a> {
    Known(u8, u8),
    Named(u8, &'a [u8]),
    Bytes(&'a [u8]),
}

const NAMES: [&str; 18] = [
    "Host",
    "Accept-Encoding",
    "If-None-Match",
    "If-Modified-Since",
    "Connection",
    "Content-Length",
    "Range",
    "If-Range",
    "If-Match",
    "If-Unmodified-Since",
    "Expect",
    "Upgrade",
    "Transfer-Encoding",
    "Proxy-Connection",
    "Available-Dictionary",
    "Cookie",
    "If-None-Match ",
    "",
];
const VALUES: [&str; 10] = [
    "br",
    "\"id\"",
    "W/\"br\"",
    "\"x\"",
    testing::DATE,
    testing::HOST,
    "keep-alive",
    "close",
    "12",
    "chunked",
];

fuzz_target!(|input: Input| {
    let Some(table) = table_of(&input) else {
        return;
    };
    let mut hosts = AcceptedValues::default();
    hosts.learn(testing::HOST.as_bytes());
    hosts.learn(&input.host);
    let bytes = bytes_of(&input);
    let whole = decide(&bytes, &table, &hosts);
    check(&whole, &bytes, &table);
    let cut = usize::from(input.cut) % (bytes.len() + 1);
    check_cut(&decide(&bytes[..cut], &table, &hosts), cut, &whole);
});

/// Shared, because building a table takes longer than everything else and most inputs do not change it.
static SOUND: LazyLock<Table> =
    LazyLock::new(|| Table::new(testing::table_of(&testing::SAMPLES)).expect("the table is valid"));

fn table_of(input: &Input) -> Option<Table> {
    let table = if input.numbers.is_empty() {
        SOUND.clone()
    } else {
        changed_table(&input.numbers)?
    };
    match &input.learned {
        Some((value, choices)) => Some(table.with_coding(value, choices).unwrap_or(table)),
        None => Some(table),
    }
}

fn changed_table(numbers: &[(u8, u32)]) -> Option<Table> {
    let mut parts = testing::table_of(&testing::SAMPLES);
    for &(at, number) in numbers {
        let at = usize::from(at) % parts.index.len();
        parts.index[at] = number;
    }
    Table::new(parts).ok()
}

fn bytes_of(input: &Input) -> Vec<u8> {
    let mut bytes = Vec::new();
    match &input.request {
        Request::Bytes(request) => bytes.extend_from_slice(request),
        Request::Line(method, target) => add_line(&mut bytes, method, target),
    }
    for line in &input.lines {
        match line {
            Line::Known(name, value) => {
                add_field(&mut bytes, *name, pick(&VALUES, *value).as_bytes())
            }
            Line::Named(name, value) => add_field(&mut bytes, *name, value),
            Line::Bytes(line) => bytes.extend_from_slice(line),
        }
    }
    bytes.extend_from_slice(b"\r\n");
    bytes
}

fn add_line(bytes: &mut Vec<u8>, method: &Method, target: &Target) {
    let method = match method {
        Method::Get => "GET ",
        Method::Head => "HEAD ",
        Method::Post => "POST ",
        Method::Connect => "CONNECT ",
    };
    bytes.extend_from_slice(method.as_bytes());
    let sample = |number: &u8| {
        testing::SAMPLES[usize::from(*number) % testing::SAMPLES.len()]
            .path
            .as_bytes()
    };
    match target {
        Target::Sample(number) => bytes.extend_from_slice(sample(number)),
        Target::Query(number, query) => {
            bytes.extend_from_slice(&[sample(number), b"?", query].concat())
        }
        Target::Bytes(target) => bytes.extend_from_slice(target),
    }
    bytes.extend_from_slice(format!(" HTTP/1.1\r\nHost: {}\r\n", testing::HOST).as_bytes());
}

fn add_field(bytes: &mut Vec<u8>, name: u8, value: &[u8]) {
    bytes.extend_from_slice(&[pick(&NAMES, name).as_bytes(), b": ", value, b"\r\n"].concat());
}

fn pick<'a>(from: &[&'a str], number: u8) -> &'a str {
    from[usize::from(number) % from.len()]
}

fn check(step: &Step, bytes: &[u8], table: &Table) {
    match step {
        Step::Partial => assert!(bytes.len() <= MAX_HEAD),
        Step::HandOver { head, .. } => assert!(*head <= bytes.len()),
        Step::Answer(answer) => {
            assert!(!testing::refuses_answer(&bytes[..answer.consumed]));
            let clock = Clock::new(65_000, 0);
            let parts = table.parts(answer, &clock, answer.closes);
            let mut head = Vec::new();
            parts.head.write_to(&mut head);
            assert!(head.ends_with(b"\r\n") && parts.tail.ends_with(b"\r\n\r\n"));
            assert!(answer.with_body || parts.body.is_empty());
        }
    }
}

/// A decision about the first bytes must also hold for all bytes.
fn check_cut(part: &Step, cut: usize, whole: &Step) {
    match part {
        Step::Partial => match whole {
            Step::Partial
            | Step::HandOver {
                end: RequestEnd::Open,
                ..
            } => {}
            Step::Answer(answer) => assert!(answer.consumed > cut),
            Step::HandOver { head, .. } => assert!(*head > cut),
        },
        Step::HandOver {
            end: RequestEnd::Open,
            ..
        } => {
            assert!(matches!(
                whole,
                Step::HandOver {
                    end: RequestEnd::Open,
                    ..
                }
            ));
        }
        known => assert_eq!(known, whole),
    }
}
