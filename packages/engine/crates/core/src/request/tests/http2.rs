use super::*;

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
