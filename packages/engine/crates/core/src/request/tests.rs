//! Tests of each condition: requests that the engine answers, and similar requests that Node answers.
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

// head

#[test]
fn answers_heads_of_at_most_16_kib_and_64_fields() {
    let padded = |length: usize| {
        let rest = length - get("Padding: \r\n").len();
        get(&format!("Padding: {}\r\n", "x".repeat(rest)))
    };
    answer(padded(MAX_HEAD));
    assert_handed_over(padded(MAX_HEAD + 1), OPEN);
    answer(get(&"Field: x\r\n".repeat(MAX_FIELDS - 1)));
    assert_handed_over(get(&"Field: x\r\n".repeat(MAX_FIELDS)), OPEN);
}

#[test]
fn reads_at_most_16_kib() {
    let long = get(&"x".repeat(MAX_HEAD));
    assert_eq!(step(&long[..MAX_HEAD]), Step::Partial);
    assert_handed_over(&long[..MAX_HEAD + 1], OPEN);
}

#[test]
fn reads_until_the_head_is_complete() {
    let lines = "\r\nPOST /api HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n".to_owned();
    for whole in [
        get("Accept-Encoding: br\r\nIf-None-Match: \"x\"\r\n"),
        lines,
    ] {
        for cut in 0..whole.len() {
            assert_eq!(step(&whole[..cut]), Step::Partial, "{cut}");
        }
        assert_ne!(step(whole), Step::Partial);
    }
}

#[test]
fn hands_over_the_connection_for_lines_without_crlf() {
    for head in [
        "GET / HTTP/1.1\nHost: example.com\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: example.com\n\r\n",
        "GET / HTTP/1.1\r\nHost: example.com\r\n\n",
        "GET / HTTP/1.1\r\nHost: example.com\n\n",
        "\nGET / HTTP/1.1\r\nHost: example.com\r\n\r\n",
        "GET / HTTP/1.1\rHost: example.com\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: example.com\rX: y\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: example.com\r\r\n\r\n",
        "\r\rGET / HTTP/1.1\r\nHost: example.com\r\n\r\n",
        // These heads are incomplete, but already invalid.
        "GET / HTTP/1.1\n",
        "GET / HTTP/1.1\r\nHost: example.com\n",
    ] {
        assert_handed_over(head, OPEN);
    }
}

#[test]
fn hands_over_a_head_after_empty_lines() {
    assert_handed_over(format!("\r\n{}", get("")), plain(0));
    assert_handed_over(
        format!("\r\n\r\n{}", get("Content-Length: 3\r\n")),
        plain(3),
    );
}

#[test]
fn hands_over_the_connection_for_malformed_heads() {
    for lines in [
        "Field : x\r\n",
        " Field: x\r\n",
        "Field: x\r\n folded\r\n",
        "Field: x\r\n\tfolded\r\n",
        "Field\r\n",
        ": x\r\n",
        "Fi(eld: x\r\n",
        "Fi\u{e9}ld: x\r\n",
        "Field: \0\r\n",
        "Field: a\u{7f}b\r\n",
        "Field: a\u{1b}b\r\n",
    ] {
        let Step::HandOver { end, .. } = step(get(lines)) else {
            panic!("{lines:?}")
        };
        assert_eq!(end, OPEN, "{lines:?}");
    }
}

#[test]
fn ignores_unrelated_fields() {
    for lines in [
        "Cookie: a=b\r\nCookie: c=d\r\n",
        "User-Agent: caf\u{e9}\r\n",
        "Field:\r\n",
        "Field:   x y  \r\n",
        "Range-Unit: none\r\nHosts: a\r\nConnections: 3\r\nX-Expect: y\r\n",
        "Available-Dictionary: :AAAA:\r\n",
        "Keep-Alive: timeout=1\r\n",
        "TE: trailers\r\n",
    ] {
        answer(get(lines));
    }
}

#[test]
fn hands_over_the_connection_for_other_versions() {
    for version in [
        "HTTP/1.0",
        "HTTP/1.2",
        "HTTP/2.0",
        "HTTP/0.9",
        "http/1.1",
        "HTTP/1.1 ",
        "HTTP/11",
        "",
    ] {
        let Step::HandOver { end, .. } = step(line(&format!("GET / {version}"))) else {
            panic!("{version}")
        };
        assert_eq!(end, OPEN, "{version}");
    }
    assert_handed_over("GET /\r\n", OPEN);
    assert_handed_over("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", OPEN);
    assert_handed_over("\x16\x03\x01\x02", OPEN);
}

// method

#[test]
fn hands_over_other_methods() {
    for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
        assert_handed_over(line(&format!("{method} / HTTP/1.1")), plain(0));
    }
}

#[test]
fn hands_over_the_connection_for_unknown_methods() {
    for method in [
        "CONNECT", "TRACE", "PROPFIND", "get", "Get", "GETS", "GE", "HEADX", "QUERY", "PRI",
    ] {
        assert_handed_over(line(&format!("{method} / HTTP/1.1")), OPEN);
    }
    // The engine hands these over before the head is complete.
    for begin in [
        "CO",
        "g",
        "GETS",
        "GE ",
        "\r\nFOO",
        "FOO / HTTP/1.1\r\nHost: ",
    ] {
        assert_handed_over(begin, OPEN);
    }
    for begin in ["", "G", "GET", "HEA", "P", "\r\nPU", "\r\n", "\r"] {
        assert_eq!(step(begin), Step::Partial, "{begin:?}");
    }
}

#[test]
fn hands_over_requests_with_a_body() {
    for (value, body) in [
        ("0", 0),
        ("7", 7),
        ("007", 7),
        (" 12\t", 12),
        ("999999999999999", 999_999_999_999_999),
    ] {
        assert_handed_over(get(&format!("Content-Length:{value}\r\n")), plain(body));
    }
    let post = format!("POST /api HTTP/1.1\r\nHost: {HOST}\r\ncontent-length: 3\r\n\r\n");
    assert_eq!(
        step(format!("{post}abc")),
        Step::HandOver {
            head: post.len(),
            end: plain(3)
        }
    );
}

#[test]
fn hands_over_the_connection_for_an_invalid_content_length() {
    for value in [
        "",
        " ",
        "+1",
        "-1",
        "1.0",
        "0x1",
        "1,1",
        "1, 1",
        "1 1",
        "one",
        "\u{661}",
        "1000000000000000",
        "18446744073709551617",
    ] {
        assert_handed_over(get(&format!("Content-Length: {value}\r\n")), OPEN);
    }
    assert_handed_over(get("Content-Length: 1\r\nContent-Length: 1\r\n"), OPEN);
    assert_handed_over(get("Content-Length: 0\r\ncontent-length:\r\n"), OPEN);
}

#[test]
fn hands_over_the_connection_for_transfer_encoding() {
    for lines in [
        "Transfer-Encoding: chunked\r\n",
        "transfer-encoding: identity\r\n",
        "Transfer-Encoding:\r\n",
        "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
    ] {
        assert_handed_over(get(lines), OPEN);
    }
}

// target

#[test]
fn ignores_the_query() {
    let resource = |target: &str| answer(line(&format!("GET {target} HTTP/1.1"))).resource;
    assert_eq!(resource("/app.js"), 1);
    assert_eq!(resource("/app.js?"), 1);
    assert_eq!(resource("/app.js?/app.js??x=%&y"), 1);
    assert_eq!(resource("/?q"), 0);
    assert_eq!(resource("/image.png"), 2);
}

#[test]
fn hands_over_unknown_targets() {
    for target in [
        "/app",
        "/app.js/",
        "//app.js",
        "/App.js",
        "/%61pp.js",
        "/app%2Ejs",
        "/./app.js",
        "/app.js#",
        "/app.js?q#f",
        "/#/app.js",
        "/app.js\u{e9}",
        "/app.js?\u{e9}",
        "*",
        "?",
        "app.js",
        "http://example.com/app.js",
        "HTTP://example.com/",
        "example.com:80",
    ] {
        assert_handed_over(line(&format!("GET {target} HTTP/1.1")), plain(0));
    }
}

#[test]
fn hands_over_the_connection_for_malformed_targets() {
    for request in [
        "GET  / HTTP/1.1",
        "GET /  HTTP/1.1",
        "GET / x HTTP/1.1",
        "GET\t/ HTTP/1.1",
        "GET /\u{7f} HTTP/1.1",
        "GET /\0 HTTP/1.1",
        " GET / HTTP/1.1",
    ] {
        let Step::HandOver { end, .. } = step(line(request)) else {
            panic!("{request}")
        };
        assert_eq!(end, OPEN, "{request}");
    }
    // Not UTF-8.
    let Step::HandOver { end, .. } = step(b"GET /?\xff HTTP/1.1\r\nHost: example.com\r\n\r\n")
    else {
        panic!()
    };
    assert_eq!(end, OPEN);
}

#[test]
fn hands_over_resources_that_node_must_answer() {
    assert_handed_over(
        line("GET /streamed HTTP/1.1\r\nAccept-Encoding: br"),
        plain(0),
    );
    answer(line("GET /streamed HTTP/1.1"));
    answer(line("GET /deltas.js HTTP/1.1"));
    assert_handed_over(
        line("GET /deltas.js HTTP/1.1\r\nAvailable-Dictionary: :AA:"),
        plain(0),
    );
}

// Host

#[test]
fn hands_over_unknown_or_repeated_hosts() {
    for lines in [
        "",
        "Host:\r\n",
        "Host: Example.com\r\n",
        "Host: example.com:80\r\n",
        "Host: example.com.\r\n",
        "Host: example.co\r\n",
        "Host: example.com, example.com\r\n",
        "Host: example.com\r\nHost: example.com\r\n",
        "Host: example.com\r\nhost:\r\n",
    ] {
        assert_handed_over(format!("GET / HTTP/1.1\r\n{lines}\r\n"), plain(0));
    }
    for lines in ["Host:example.com\r\n", "hOST:   example.com   \r\n"] {
        answer(format!("GET / HTTP/1.1\r\n{lines}\r\n"));
    }
}

// Accept-Encoding

#[test]
fn chooses_by_the_exact_value_of_accept_encoding() {
    let representation = |lines| answer(get(lines)).representation;
    assert_eq!(representation(""), 1);
    assert_eq!(representation("Accept-Encoding: br\r\n"), 0);
    assert_eq!(representation("accept-encoding: br \r\n"), 0);
    for lines in [
        "Accept-Encoding:\r\n",
        "Accept-Encoding: \r\n",
        "Accept-Encoding: Br\r\n",
        "Accept-Encoding: br, gzip\r\n",
        "Accept-Encoding: br,\r\n",
        "Accept-Encoding: *;q=0\r\n",
        "Accept-Encoding: br\r\nAccept-Encoding: br\r\n",
        "Accept-Encoding: br\r\nAccept-Encoding:\r\n",
        "Accept-Encoding: br\r\nAccept-Encoding: br\r\nAccept-Encoding: br\r\n",
    ] {
        assert_handed_over(get(lines), plain(0));
    }
}

// If-None-Match

#[test]
fn compares_a_single_tag_weakly() {
    for (tag, expected) in [
        ("\"id\"", Kind::NotModified),
        ("W/\"id\"", Kind::NotModified),
        (" W/\"id\"  ", Kind::NotModified),
        // The tag of another coding, the tag of another build, and an empty tag.
        ("\"br\"", Kind::Ok),
        ("W/\"br\"", Kind::Ok),
        ("\"\"", Kind::Ok),
        ("\"W/id\"", Kind::Ok),
        ("\"!#~\"", Kind::Ok),
    ] {
        assert_eq!(
            status(get(&format!("If-None-Match: {tag}\r\n"))),
            expected,
            "{tag}"
        );
    }
    let coded = get("Accept-Encoding: br\r\nIf-None-Match: \"br\"\r\n");
    assert_eq!(status(coded), Kind::NotModified);
}

#[test]
fn hands_over_values_other_than_a_single_tag() {
    for value in [
        "",
        "*",
        "id",
        "\"id",
        "id\"",
        "\"",
        "W/",
        "W/id",
        "w/\"id\"",
        "W/ \"id\"",
        "W/W/\"id\"",
        "'id'",
        "\"id\", \"br\"",
        "\"id\",",
        ", \"id\"",
        "\"a,b\"",
        "\"a b\"",
        "\"a\tb\"",
        "\"id\"\"id\"",
        "\"id\"-gzip",
        "\"\u{e9}\"",
    ] {
        assert_handed_over(get(&format!("If-None-Match: {value}\r\n")), plain(0));
    }
    let twice = "If-None-Match: \"id\"\r\n".repeat(2);
    assert_handed_over(get(&twice), plain(0));
}

// If-Modified-Since

#[test]
fn accepts_only_the_exact_text_of_last_modified() {
    let since = |date: &str| format!("If-Modified-Since: {date}\r\n");
    assert_eq!(status(get(&since(DATE))), Kind::NotModified);
    assert_eq!(status(get(&since(&format!(" {DATE} ")))), Kind::NotModified);
    for date in [
        "",
        "Sun, 06 Nov 1994 08:49:36 GMT",
        "Sun, 06 Nov 1994 08:49:38 GMT",
        "sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
    ] {
        assert_handed_over(get(&since(date)), plain(0));
    }
    assert_handed_over(get(&since(DATE).repeat(2)), plain(0));
    // This resource has no date.
    let dateless = |date: &str| {
        line(&format!(
            "GET /app.js HTTP/1.1\r\nIf-Modified-Since: {date}"
        ))
    };
    assert_handed_over(dateless(DATE), plain(0));
    assert_handed_over(dateless(""), plain(0));
}

/// The date has no effect if there is a tag (RFC 9110 §13.1.3).
#[test]
fn ignores_the_date_if_there_is_a_tag() {
    let both = |tag: &str, date: &str| {
        get(&format!(
            "If-Modified-Since: {date}\r\nIf-None-Match: {tag}\r\n"
        ))
    };
    assert_eq!(status(both("\"other\"", DATE)), Kind::Ok);
    assert_eq!(
        status(both("\"id\"", "Thu, 01 Jan 1970 00:00:00 GMT")),
        Kind::NotModified
    );
    assert_eq!(status(both("\"other\"", "never")), Kind::Ok);
    let twice = both("\"id\"", &format!("{DATE}\r\nIf-Modified-Since: {DATE}"));
    assert_handed_over(twice, plain(0));
}

// Connection

#[test]
fn keeps_or_closes_the_connection() {
    for value in ["keep-alive", "Keep-Alive", " keep-alive "] {
        assert!(!answer(get(&format!("Connection: {value}\r\n"))).closes);
    }
    for value in ["close", "Close"] {
        assert!(answer(get(&format!("Connection: {value}\r\n"))).closes);
        let unknown = format!("GET /api HTTP/1.1\r\nHost: {HOST}\r\nConnection: {value}\r\n\r\n");
        assert_handed_over(unknown, OPEN);
    }
}

#[test]
fn hands_over_the_connection_for_other_connection_options() {
    for lines in [
        "Connection:\r\n",
        "Connection: upgrade\r\n",
        "Connection: keep-alive, close\r\n",
        "Connection: keep-alive,\r\n",
        "Connection: keepalive\r\n",
        "Connection: keep-alive, TE\r\n",
        "Connection: closed\r\n",
        "Connection: keep-alive\r\nConnection: keep-alive\r\n",
        "Connection: keep-alive\r\nConnection: close\r\n",
        "Connection: close\r\nConnection: keep-alive\r\n",
        "Proxy-Connection: close\r\n",
        "Proxy-Connection: keep-alive\r\n",
    ] {
        assert_handed_over(get(lines), OPEN);
    }
}

// other fields

#[test]
fn hands_over_fields_that_only_node_supports() {
    for lines in [
        "Range: x\r\nAccept-Encoding: br\r\nAccept-Encoding: br\r\n",
        "Range: bytes=0-1\r\n",
        "range:\r\n",
        "If-Range: \"id\"\r\n",
        "If-Match: \"id\"\r\n",
        "IF-UNMODIFIED-SINCE: x\r\n",
        "X-Tab: x\t\r\n",
    ] {
        assert_handed_over(get(lines), plain(0));
        assert_handed_over(get(lines).replace("GET", "HEAD"), plain(0));
    }
}

#[test]
fn hands_over_the_connection_for_expect_and_upgrade() {
    for lines in [
        "Expect: 100-continue\r\n",
        "expect:\r\n",
        "Upgrade: websocket\r\n",
        "Connection: Upgrade\r\nUpgrade: h2c\r\n",
    ] {
        assert_handed_over(get(lines), OPEN);
    }
}

#[test]
fn ignores_bytes_after_the_first_request() {
    let first = get("");
    for second in [
        get("Range: x\r\n"),
        "\n\n".into(),
        "\0".into(),
        "x".repeat(2 * MAX_HEAD),
    ] {
        assert_eq!(step(format!("{first}{second}")), step(&first));
    }
}

fn over_http2(method: &str, target: &str, fields: &[(&str, &str)]) -> Option<Answer> {
    let table = Table::new(table_of(&SAMPLES)).expect("the table is valid");
    let mut hosts = AcceptedValues::default();
    hosts.learn(HOST.as_bytes());
    let authority = fields
        .iter()
        .find_map(|(name, value)| (*name == ":authority").then_some(value.as_bytes()));
    let request = BareRequest {
        method,
        target: target.as_bytes(),
        authority,
    };
    let lines = fields.iter().filter(|(name, _)| *name != ":authority");
    let lines = lines.map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    decide_fields(request, lines, &table, &hosts)
}

#[test]
fn answers_http2_requests_like_http1_requests() {
    for (target, lines) in [
        ("/", ""),
        ("/app.js?q", "accept-encoding: br\r\n"),
        ("/", "if-none-match: W/\"id\"\r\n"),
        ("/", "if-modified-since: Sun, 06 Nov 1994 08:49:37 GMT\r\n"),
        ("/", "range: bytes=0-1\r\n"),
        ("/", "if-none-match: *\r\n"),
        ("/", "accept-encoding: br\r\naccept-encoding: br\r\n"),
        ("/", "content-length: 0\r\n"),
        ("/", "expect: 100-continue\r\n"),
        ("/none", ""),
        ("/#", ""),
    ] {
        let input = format!("GET {target} HTTP/1.1\r\nHost: {HOST}\r\n{lines}\r\n");
        let expected = match step(&input) {
            Step::Answer(answer) => Some(Answer {
                consumed: 0,
                ..answer
            }),
            _ => None,
        };
        let mut fields = vec![(":authority", HOST)];
        fields.extend(lines.lines().filter_map(|line| line.split_once(": ")));
        assert_eq!(over_http2("GET", target, &fields), expected, "{input}");
    }
}

#[test]
fn requires_one_known_host_over_http2() {
    let answers = |fields: &[(&str, &str)]| over_http2("GET", "/", fields).is_some();
    assert!(answers(&[(":authority", HOST)]));
    assert!(answers(&[("host", HOST)]));
    assert!(!answers(&[]));
    assert!(!answers(&[(":authority", "other.example")]));
    assert!(!answers(&[(":authority", HOST), ("host", HOST)]));
    assert!(over_http2("HEAD", "/", &[(":authority", HOST)]).is_some_and(|it| !it.with_body));
    assert!(over_http2("POST", "/", &[(":authority", HOST)]).is_none());
}

#[test]
fn leaves_bodies_with_early_hints_to_node_over_http2() {
    let authority = (":authority", HOST);
    assert!(over_http2("GET", "/hints", &[authority]).is_none());
    assert!(over_http2("HEAD", "/hints", &[authority]).is_some());
    let tag = ("if-none-match", "\"hints\"");
    assert!(over_http2("GET", "/hints", &[authority, tag]).is_some());
    answer(line("GET /hints HTTP/1.1"));
}
