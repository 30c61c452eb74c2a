//! Tests of each condition: requests that the engine answers, and similar requests that Node answers.

mod choices;
mod ends;
mod heads;
mod http2;
mod targets;

use super::*;
use crate::Clock;
use crate::testing::{DATE, HOST, SAMPLES, table_of};

const OPEN: RequestEnd = RequestEnd::Open;

fn plain(body: u64) -> RequestEnd {
    RequestEnd::Plain { body }
}

fn step(input: impl AsRef<[u8]>) -> Step {
    let table = Table::new(table_of(&SAMPLES)).expect("the table is valid");
    let mut hosts = AcceptedValues::default();
    hosts.learn(HOST.as_bytes());
    decide(input.as_ref(), &table, &hosts)
}

/// Returns `GET /` with the known host and more lines.
fn get(lines: &str) -> String {
    format!("GET / HTTP/1.1\r\nHost: {HOST}\r\n{lines}\r\n")
}

fn line(request: &str) -> String {
    format!("{request}\r\nHost: {HOST}\r\n\r\n")
}

#[track_caller]
fn answer(input: impl AsRef<[u8]>) -> Answer {
    match step(&input) {
        Step::Answer(answer) => {
            assert_eq!(answer.consumed, input.as_ref().len());
            answer
        }
        other => panic!(
            "{other:?} for {:?}",
            String::from_utf8_lossy(input.as_ref())
        ),
    }
}

#[track_caller]
fn assert_handed_over(input: impl AsRef<[u8]>, end: RequestEnd) {
    let head = input.as_ref().len();
    let text = String::from_utf8_lossy(input.as_ref());
    assert_eq!(step(&input), Step::HandOver { head, end }, "{text:?}");
}

fn status(input: String) -> Kind {
    answer(input).kind
}

#[test]
fn answers_get_with_a_body_and_head_without_one() {
    let expected = Answer {
        consumed: 37,
        resource: 0,
        representation: 1,
        kind: Kind::Ok,
        with_body: true,
        closes: false,
    };
    assert_eq!(answer(get("")), expected);
    assert!(!answer(line("HEAD / HTTP/1.1")).with_body);
}

#[test]
fn writes_the_head_and_the_body_of_the_table() {
    let table = Table::new(table_of(&SAMPLES)).expect("the table is valid");
    let clock = Clock::new(65_000, 784_111_777);
    let written = |input: &str| {
        let parts = table.parts(&answer(input), &clock, false);
        let mut head = Vec::new();
        parts.head.write_to(&mut head);
        (
            String::from_utf8_lossy(&head).into_owned(),
            parts.body.to_vec(),
        )
    };
    let (ok, not_modified) = (
        "HTTP/1.1 200 OK\r\nETag: \"id\"\r\nContent-Length: 5\r\n",
        "HTTP/1.1 304 Not Modified\r\nETag: W/\"id\"\r\n",
    );
    assert_eq!(written(&get("")), (ok.into(), "index".into()));
    assert_eq!(written(&line("HEAD / HTTP/1.1")), (ok.into(), "".into()));
    assert_eq!(
        written(&get("If-None-Match: \"id\"\r\n")),
        (not_modified.into(), "".into())
    );
}
