"""Checks every kind of answer with REDbot and the rules of httplint. Usage: redbot_judge.py PORT-OF-SPA PORT-OF-MPA."""

import sys
from configparser import ConfigParser

import thor
from httplint import levels
from redbot.resource import HttpResource
from redbot.resource.fetch import RedFetcher

PATIENCE = 60.0
SPA, MPA = (f"http://127.0.0.1:{port}" for port in sys.argv[1:3])
NAVIGATION = [("Sec-Fetch-Mode", "navigate"), ("Accept", "text/html,*/*;q=0.8")]

# Notes of REDbot that we accept, with the reasons from docs/http.md.
EXPLAINED = {
    "Cache-Control: public is probably not necessary.": "`public` lets shared caches store hashed files from requests with credentials",
    "The server didn't understand the request.": "the test expects a 400",
    "The Keep-Alive header is deprecated.": "clients that read it do not reuse a connection that is about to close",
}

# REDbot repeats requests for these resources: with conditions, ranges and other codings.
RESOURCES = [SPA + path for path in ("/", "/app.js", "/assets/app-Bq3kX9aZ.js", "/picture.bin", "/empty.txt", "/gone.js")]
RESOURCES += [MPA + path for path in ("/app/", "/app/about", "/app/guide", "/app/gone")]


def kinds(etag, modified):
    """Yields method, URL, fields, expected status."""
    for coding in ("identity", "gzip", "br", "zstd"):
        accept = [("Accept-Encoding", coding)]
        yield "GET", SPA + "/app.js", accept, 200
        yield "GET", SPA + "/", accept, 200
        yield "HEAD", SPA + "/app.js", accept, 200
        yield "GET", SPA + "/assets/app-Bq3kX9aZ.js", accept, 200
        yield "GET", MPA + "/app/gone", accept + NAVIGATION, 404
    yield "GET", SPA + "/small.txt", [], 200
    yield "GET", SPA + "/empty.txt", [], 200
    yield "GET", SPA + "/picture.bin", [], 200
    yield "GET", SPA + "/users/jane.doe", NAVIGATION, 200
    yield "GET", SPA + "/app.js", [("If-None-Match", etag)], 304
    yield "GET", SPA + "/app.js", [("If-Modified-Since", modified)], 304
    yield "GET", SPA + "/assets/app-Bq3kX9aZ.js", [("If-None-Match", "*")], 304
    yield "HEAD", SPA + "/app.js", [("If-None-Match", etag)], 304
    yield "GET", SPA + "/app.js", [("Range", "bytes=10-99")], 206
    yield "GET", SPA + "/app.js", [("Range", "bytes=-5"), ("If-Range", etag)], 206
    yield "GET", SPA + "/app.js", [("Range", "bytes=9999999-")], 416
    yield "GET", SPA + "/app.js", [("If-Match", '"x"')], 412
    yield "GET", SPA + "/app.js", [("If-Unmodified-Since", "Thu, 01 Jan 1998 00:00:00 GMT")], 412
    yield "GET", SPA + "/app.js", [("Accept-Encoding", "identity;q=0")], 406
    yield "GET", MPA + "/app/guide", [], 308
    yield "GET", MPA + "/app/about/?a=b", [], 308
    yield "GET", MPA + "/app", [], 308
    yield "GET", SPA + "/%zz", [], 400
    yield "GET", SPA + "/assets/gone-Zz9yX8wV.js", [], 404
    yield "HEAD", SPA + "/gone.js", [], 404
    yield "POST", SPA + "/app.js", [("Content-Length", "0")], 405
    yield "OPTIONS", SPA + "/app.js", [], 204


def fetch(requests, make, done):
    """Sends requests (method, URL, fields) at once, and returns REDbot's result for each."""
    config = ConfigParser()
    config.read_dict({"redbot": {"enable_local_access": "True"}})
    fetchers, waiting = [], set(range(len(requests)))

    def note_end(number):
        waiting.discard(number)
        if not waiting:
            thor.stop()

    for number, (method, url, fields) in enumerate(requests):
        fetcher = make(config["redbot"])
        fetcher.set_request(url, method, fields)
        fetcher.on(done, lambda number=number: note_end(number))
        fetchers.append(fetcher)
        fetcher.check()
    thor.schedule(PATIENCE, thor.stop)
    thor.run()
    if waiting:
        raise AssertionError(f"REDbot did not finish with {[requests[number] for number in waiting]}")
    return fetchers


def disliked(fetcher):
    return [note for note in fetcher.response.notes if note.level in (levels.BAD, levels.WARN)]


def main():
    findings, explained = [], set()

    def hear(title, notes):
        for note in notes:
            if note.summary in EXPLAINED:
                explained.add(note.summary)
            else:
                findings.append(f"{title}: {note.summary} ({note.level.value}, {note.subject})")

    resources = fetch([("GET", url, []) for url in RESOURCES], HttpResource, "check_done")
    for url, resource in zip(RESOURCES, resources):
        for check in (resource, *resource.subreqs.values()):
            hear(url, disliked(check))
        support = (resource.inm_support, resource.ims_support, resource.partial_support)
        if resource.response.status_code == 200 and not url.endswith("/empty.txt") and support != (True, True, True):
            findings.append(f"{url}: If-None-Match, If-Modified-Since, ranges: {support}")

    fields = dict(resources[1].response.headers.text)
    asked = list(kinds(fields["ETag"], fields["Last-Modified"]))
    answers = fetch([case[:3] for case in asked], RedFetcher, "fetch_done")
    for (method, url, sent, status), answer in zip(asked, answers):
        title = f"{method} {url} {sent}"
        hear(title, disliked(answer))
        if answer.response.status_code != status:
            findings.append(f"{title}: expected {status}, found {answer.response.status_code}")

    findings += [f"remove this accepted note, which no longer appears: {summary}" for summary in set(EXPLAINED) - explained]
    for finding in findings:
        print(f"  ✗ {finding}")
    print(f"REDbot: {len(resources)} resources, {len(answers)} kinds of answers, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
