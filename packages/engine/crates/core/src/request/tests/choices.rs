use super::*;

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
