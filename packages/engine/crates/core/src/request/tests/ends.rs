use super::*;

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
