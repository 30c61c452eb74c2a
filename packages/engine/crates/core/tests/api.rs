//! One request through the whole of the crate, as the engine uses it.
use bytes::Bytes;
use serve_dist_core::{Clock, Hosts, Step, Table, TableParts, decide};

#[test]
fn answers_a_request_of_the_table() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n";
    let not_modified = "HTTP/1.1 304 Not Modified\r\n";
    let text = format!("/{head}{not_modified}\"t\"");
    let (second, third) = (
        1 + head.len() as u32,
        (1 + head.len() + not_modified.len()) as u32,
    );
    let table = Table::new(TableParts {
        text: Bytes::from(text),
        #[rustfmt::skip]
        index: vec![
            1, 1, 1,
            0, 1, 0, 0, 1, 0, 0, 0,
            1, head.len() as u32, second, not_modified.len() as u32, third, 3, 0, 0, 2,
        ],
        slabs: vec![Bytes::from_static(b"hi")],
        codings: vec![Vec::new()],
        choices: vec![0],
    })
    .expect("the table is sound");
    let mut hosts = Hosts::default();
    assert!(hosts.learn(b"a"));
    let Step::Answer(answer) = decide(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", &table, &hosts) else {
        panic!("no answer");
    };
    let clock = Clock::new(65_000, 784_111_777);
    let parts = table.parts(&answer, &clock, answer.closes);
    let mut written = [parts.head, parts.tail].concat();
    written.extend_from_slice(&parts.body);
    let expected = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\
        Connection: keep-alive\r\nKeep-Alive: timeout=65\r\n\r\nhi";
    assert_eq!(String::from_utf8_lossy(&written), expected);
}
