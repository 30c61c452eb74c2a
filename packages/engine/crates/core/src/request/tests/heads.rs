use super::*;

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
