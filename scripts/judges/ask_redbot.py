"""Lets REDbot ask for resources as it likes. Usage: ask_redbot.py <port of an spa> <port of an mpa at /app/>."""

import sys
from configparser import ConfigParser

import thor
from httplint import levels
from redbot.resource import HttpResource

from lint import EXPLAINED as EXPLAINED_TO_HTTPLINT

PATIENCE = 60.0

EXPLAINED = {
    **EXPLAINED_TO_HTTPLINT,
    "The Keep-Alive header is deprecated.": "clients that read it do not reuse a connection that is about to close",
}


def urls(spa, mpa):
    for path in ("/", "/app.js", "/assets/app-Bq3kX9aZ.js", "/picture.bin", "/empty.txt", "/gone.js"):
        yield f"http://127.0.0.1:{spa}{path}"
    for path in ("/app/", "/app/about", "/app/guide", "/app/gone"):
        yield f"http://127.0.0.1:{mpa}{path}"


def ask(all_urls):
    """Runs REDbot's checks of all resources at once, and answers them by URL."""
    config = ConfigParser()
    config.read_dict({"redbot": {"enable_local_access": "True"}})
    resources, waiting = {}, set(all_urls)

    def note_end(url):
        waiting.discard(url)
        if not waiting:
            thor.stop()

    for url in all_urls:
        resources[url] = HttpResource(config["redbot"])
        resources[url].set_request(url)
        resources[url].on("check_done", lambda url=url: note_end(url))
        resources[url].check()
    thor.schedule(PATIENCE, thor.stop)
    thor.run()
    if waiting:
        raise AssertionError(f"REDbot did not finish with {waiting}")
    return resources


def judge(resource):
    """What is bad, or warned of, in all the answers to REDbot's requests."""
    for check in (resource, *resource.subreqs.values()):
        yield from (note for note in check.response.notes if note.level in (levels.BAD, levels.WARN))


def main():
    findings, explained = 0, set()
    resources = ask(list(urls(sys.argv[1], sys.argv[2])))
    for url, resource in resources.items():
        for note in judge(resource):
            if note.summary in EXPLAINED:
                explained.add(note.summary)
                continue
            findings += 1
            print(f"  ✗ {url}: {note.summary} ({note.level.value}, {note.subject})")
        if resource.response.status_code != 200 or url.endswith("/empty.txt"):
            continue
        seen = (resource.inm_support, resource.ims_support, resource.partial_support)
        if seen != (True, True, True):
            findings += 1
            print(f"  ✗ {url}: If-None-Match, If-Modified-Since, ranges: {seen}")
    for summary in sorted(explained):
        print(f"  · {summary} Kept: {EXPLAINED[summary]}")
    print(f"redbot: {len(resources)} resources, {findings} findings, {len(explained)} explained")
    return 1 if findings > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
