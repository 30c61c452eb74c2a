use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::testing::{HOST, SAMPLES, refuses_answer, table_of};

static SITE: LazyLock<(Table, AcceptedValues)> = LazyLock::new(|| {
    let table = Table::new(table_of(&SAMPLES)).expect("the table is valid");
    let mut hosts = AcceptedValues::default();
    hosts.learn(HOST.as_bytes());
    (table, hosts)
});

fn decided(input: &[u8]) -> Step {
    let (table, hosts) = &*SITE;
    decide(input, table, hosts)
}

fn field() -> impl Strategy<Value = String> {
    let name = select(
        &[
            "Host",
            "Accept-Encoding",
            "If-None-Match",
            "if-modified-since",
            "Connection",
            "Content-Length",
            "Cookie",
            "Transfer-Encoding",
            "Range",
            "Expect",
            "Upgrade",
            "Available-Dictionary",
            "Field ",
            "",
        ][..],
    );
    let value = select(
        &[
            HOST,
            "br",
            "\"id\"",
            "W/\"br\"",
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "keep-alive",
            "close",
            "0",
            "12",
            "chunked",
            "",
            "a, b",
            "\u{e9}",
            "\0",
        ][..],
    );
    (name, select(&[":", ": ", ":\t ", " :"][..]), value)
        .prop_map(|(name, colon, value)| name.to_owned() + colon + value)
}

/// A valid or nearly valid request.
fn request() -> impl Strategy<Value = Vec<u8>> {
    let well = prop_oneof![4 => Just("\r\n"), 1 => select(&["\n", "\r", "\r\n ", "\r\n\r\n"][..])];
    let line = prop_oneof![
        3 => Just("GET / HTTP/1.1"),
        2 => select(&["HEAD /app.js?q HTTP/1.1", "GET /deltas.js HTTP/1.1", "POST /api HTTP/1.1"][..]),
        1 => select(&["GET / HTTP/1.0", "get / HTTP/1.1", "GET /#f HTTP/1.1", "CONNECT a:1 HTTP/1.1", "\r\nGET / HTTP/1.1"][..]),
    ];
    (line, prop::collection::vec((field(), well), 0..5)).prop_map(|(line, fields)| {
        let mut text = format!("{line}\r\nHost: {HOST}\r\n");
        fields
            .iter()
            .for_each(|(field, end)| text += &format!("{field}{end}"));
        (text + "\r\n").into_bytes()
    })
}

/// Random bytes, requests, and requests with one changed byte.
fn input() -> impl Strategy<Value = Vec<u8>> {
    let changed =
        (request(), any::<prop::sample::Index>(), any::<u8>()).prop_map(|(mut bytes, at, byte)| {
            let at = at.index(bytes.len());
            bytes[at] = byte;
            bytes
        });
    prop_oneof![4 => request(), 2 => changed, 1 => prop::collection::vec(any::<u8>(), 0..200)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 1000 }))]

    /// However TCP splits the input, the decision stays the same. The end of a request is never known before its head
    /// is complete.
    #[test]
    fn decides_the_same_at_each_cut(mut bytes in input(), next in input()) {
        bytes.extend_from_slice(&next);
        let steps = (0..=bytes.len()).map(|cut| (cut, decided(&bytes[..cut])));
        let mut first = None;
        for (cut, step) in steps {
            match (&first, &step) {
                (None, Step::Partial) => {}
                (None, Step::Answer(Answer { consumed: head, .. }))
                | (None, Step::HandOver { head, end: RequestEnd::Plain { .. } }) => {
                    prop_assert_eq!(*head, cut);
                    first = Some(step);
                }
                (None, _) => first = Some(step),
                (Some(Step::HandOver { end: RequestEnd::Open, .. }), Step::HandOver { end, .. }) => {
                    prop_assert_eq!(*end, RequestEnd::Open);
                }
                (Some(known), step) => prop_assert_eq!(known, step),
            }
        }
    }

    #[test]
    fn never_answers_a_head_with_an_unsupported_field(bytes in input()) {
        if let Step::Answer(answer) = decided(&bytes) {
            prop_assert!(!refuses_answer(&bytes[..answer.consumed]));
        }
    }
}
