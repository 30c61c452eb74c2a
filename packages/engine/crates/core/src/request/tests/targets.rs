use super::*;

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
