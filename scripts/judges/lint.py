"""Shows every kind of answer to httplint. Usage: lint.py <port of an spa> <port of an mpa at /app/>."""

import sys
import time

from httplint import HttpRequestLinter, HttpResponseLinter, levels

from strict_client import exchange, read_responses

# What httplint dislikes and we keep; docs/http.md gives the reasons.
EXPLAINED = {
    "Cache-Control: public is probably not necessary.": "`public` lets shared caches keep hashed files that were asked for with credentials",
    "The server didn't understand the request.": "a 400 is what was asked for",
}

NAVIGATION = [("Sec-Fetch-Mode", "navigate"), ("Accept", "text/html,*/*;q=0.8")]


def cases(validators):
    """Yields name, site, method, target, fields, expected status."""
    etag, modified = validators
    for coding in ("identity", "gzip", "br", "zstd"):
        accept = [("Accept-Encoding", coding)]
        yield f"200 {coding}", "spa", "GET", "/app.js", accept, 200
        yield f"200 page {coding}", "spa", "GET", "/", accept, 200
        yield f"HEAD {coding}", "spa", "HEAD", "/app.js", accept, 200
        yield f"immutable {coding}", "spa", "GET", "/assets/app-Bq3kX9aZ.js", accept, 200
        yield f"404 page {coding}", "mpa", "GET", "/app/gone", accept + NAVIGATION, 404
    yield "200 without variants", "spa", "GET", "/small.txt", [], 200
    yield "200 empty", "spa", "GET", "/empty.txt", [], 200
    yield "200 binary", "spa", "GET", "/picture.bin", [], 200
    yield "fallback", "spa", "GET", "/users/jane.doe", NAVIGATION, 200
    yield "304 by tag", "spa", "GET", "/app.js", [("If-None-Match", etag)], 304
    yield "304 by date", "spa", "GET", "/app.js", [("If-Modified-Since", modified)], 304
    yield "304 immutable", "spa", "GET", "/assets/app-Bq3kX9aZ.js", [("If-None-Match", "*")], 304
    yield "304 to HEAD", "spa", "HEAD", "/app.js", [("If-None-Match", etag)], 304
    yield "206", "spa", "GET", "/app.js", [("Range", "bytes=10-99")], 206
    yield "206 of a suffix", "spa", "GET", "/app.js", [("Range", "bytes=-5"), ("If-Range", etag)], 206
    yield "416", "spa", "GET", "/app.js", [("Range", "bytes=9999999-")], 416
    yield "412 by tag", "spa", "GET", "/app.js", [("If-Match", '"x"')], 412
    yield "412 by date", "spa", "GET", "/app.js", [("If-Unmodified-Since", "Thu, 01 Jan 1998 00:00:00 GMT")], 412
    yield "406", "spa", "GET", "/app.js", [("Accept-Encoding", "identity;q=0")], 406
    yield "308 to a folder", "mpa", "GET", "/app/guide", [], 308
    yield "308 to a page", "mpa", "GET", "/app/about/?a=b", [], 308
    yield "308 to the base", "mpa", "GET", "/app", [], 308
    yield "400", "spa", "GET", "/%zz", [], 400
    yield "404 plain", "spa", "GET", "/assets/gone-Zz9yX8wV.js", [], 404
    yield "404 to HEAD", "spa", "HEAD", "/gone.js", [], 404
    yield "405", "spa", "POST", "/app.js", [("Content-Length", "0")], 405
    yield "OPTIONS", "spa", "OPTIONS", "/app.js", [], 204
    yield "OPTIONS *", "spa", "OPTIONS", "*", [], 204


def ask(port, method, target, fields):
    lines = [f"{method} {target} HTTP/1.1", f"Host: 127.0.0.1:{port}", "User-Agent: httplint"]
    lines += [f"{name}: {value}" for name, value in fields] + ["Connection: close", "", ""]
    octets = "\r\n".join(lines).encode("latin-1")
    responses = read_responses(exchange(port, octets), [method.encode()])
    if len(responses) != 1:
        raise AssertionError(f"{len(responses)} responses to one {method} {target}")
    return responses[0]


def judge(port, method, target, fields, response):
    """The notes that are bad, or warn."""
    request = HttpRequestLinter(start_time=time.time())
    uri = target if target == "*" else f"http://127.0.0.1:{port}{target}"
    request.process_request_topline(method.encode(), uri.encode(), b"1.1")
    sent = [("Host", f"127.0.0.1:{port}"), ("User-Agent", "httplint"), *fields]
    request.process_headers([(name.encode(), value.encode()) for name, value in sent])
    request.finish_content(True)

    linter = HttpResponseLinter(start_time=time.time(), _related=request, no_content=method == "HEAD")
    linter.is_head_response = method == "HEAD"
    linter.base_uri = "" if target == "*" else uri
    linter.process_response_topline(b"1.1", str(response.status).encode(), bytes(response.reason))
    linter.process_headers(response.fields)
    linter.feed_content(response.body)
    linter.finish_content(True)
    return [note for note in linter.notes if note.level in (levels.BAD, levels.WARN)]


def main():
    ports = {"spa": int(sys.argv[1]), "mpa": int(sys.argv[2])}
    first = ask(ports["spa"], "GET", "/app.js", [])
    validators = tuple(first.values(name)[0].decode() for name in (b"etag", b"last-modified"))
    count, findings, explained = 0, 0, set()
    for name, site, method, target, fields, status in cases(validators):
        response = ask(ports[site], method, target, fields)
        count += 1
        if response.status != status:
            findings += 1
            print(f"  ✗ {name}: expected {status}, found {response.status}")
        for note in judge(ports[site], method, target, fields, response):
            if note.summary in EXPLAINED:
                explained.add(note.summary)
                continue
            findings += 1
            print(f"  ✗ {name}: {note.summary} ({note.level.value}, {note.subject})")
    for summary in sorted(set(EXPLAINED) - explained):
        findings += 1
        print(f"  ✗ explained, yet not to be seen any more: {summary}")
    for summary in sorted(explained):
        print(f"  · {summary} Kept: {EXPLAINED[summary]}")
    print(f"httplint: {count} kinds of answers, {findings} findings, {len(explained)} explained")
    return 1 if findings > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
