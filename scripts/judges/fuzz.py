"""Sends what a grammar of HTTP makes up; h11, a strict parser, reads both directions. Usage: fuzz.py <port>.

The environment variable SERVE_DIST_FUZZ_EXAMPLES says how many examples (default 1500), SERVE_DIST_SEED which ones (default 2026).
"""

import os
import socket
import sys

import h11
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

PORT = int(sys.argv[1])
EXAMPLES = int(os.environ.get("SERVE_DIST_FUZZ_EXAMPLES", "1500"))
SEED = int(os.environ.get("SERVE_DIST_SEED", "2026"))
PATIENCE = 20.0

token = st.text("abcXYZ019!#$%&'*+-.^_`|~", min_size=1, max_size=12).map(str.encode)
any_octets = st.binary(max_size=30)
text = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=40).map(str.encode)
method = st.one_of(
    st.sampled_from([b"GET", b"GET", b"HEAD", b"OPTIONS", b"POST", b"PUT", b"DELETE", b"TRACE", b"PRI", b"CONNECT"]),
    token,
)
known = st.sampled_from([b"/", b"/app.js", b"/assets/app-Bq3kX9aZ.js", b"/small.txt", b"/empty.txt", b"/picture.bin"])
segment = st.one_of(st.sampled_from([b"..", b".", b"", b"%2e%2e", b"%2F", b"%5c", b"%00", b"%", b"%ff", b"app.js"]), token)
path = st.lists(segment, max_size=6).map(lambda parts: b"/" + b"/".join(parts))
target = st.one_of(
    known,
    path,
    st.tuples(known, text).map(lambda parts: parts[0] + b"?" + parts[1].replace(b" ", b"+")),
    st.tuples(st.sampled_from([b"http://a", b"https://a:1", b"ftp://[::1]", b"//"]), path).map(b"".join),
    st.sampled_from([b"*", b"a:80", b"", b"/ /", b"/\x00", b"/\xc3\xa9", b"/#x", b"/" + b"a" * 9000]),
    any_octets,
)
version = st.sampled_from([b"HTTP/1.1"] * 12 + [b"HTTP/1.0", b"HTTP/0.9", b"HTTP/2.0", b"HTTP/1.2", b"http/1.1", b""])
tag = st.sampled_from([b'"x"', b'W/"x"', b"*", b'"', b'"a,b"', b"", b"x", b'"\xff"'])
number = st.one_of(st.integers(0, 20000), st.integers(0, 2**70)).map(lambda value: str(value).encode())
range_set = st.one_of(
    st.tuples(number, number).map(b"-".join), number.map(lambda first: first + b"-"), number.map(lambda last: b"-" + last)
)
ranges = st.lists(range_set, min_size=1, max_size=3).map(lambda sets: b"bytes=" + b",".join(sets))
coding = st.sampled_from([b"gzip", b"br", b"zstd", b"identity", b"*", b"x-gzip", b"deflate", b"GZIP", b""])
weight = st.sampled_from([b"", b";q=0", b";q=1", b"; q=0.5", b";q=", b";q=1.1", b";q=0.0001", b";x=y"])
codings = st.lists(st.tuples(coding, weight).map(b"".join), max_size=5).map(b",".join)
date = st.sampled_from(
    [b"Sun, 06 Nov 1994 08:49:37 GMT", b"Sunday, 06-Nov-94 08:49:37 GMT", b"Sun Nov  6 08:49:37 1994", b"Sun, 99 Nov 9999", b"0"]
)


def named(name, value):
    return value.map(lambda octets: (name, octets))


field = st.one_of(
    named(b"Accept-Encoding", codings),
    named(b"Range", st.one_of(ranges, text)),
    named(b"If-Range", st.one_of(tag, date)),
    named(b"If-Match", tag),
    named(b"If-None-Match", st.lists(tag, max_size=4).map(b", ".join)),
    named(b"If-Modified-Since", date),
    named(b"If-Unmodified-Since", date),
    named(b"Accept", st.sampled_from([b"text/html", b"*/*", b"text/html;q=0", b",,;"])),
    named(b"Sec-Fetch-Mode", st.sampled_from([b"navigate", b"cors", b""])),
    named(b"Connection", st.sampled_from([b"close", b"keep-alive", b"upgrade", b"x, close", b""])),
    named(b"Expect", st.sampled_from([b"100-continue", b"x"])),
    named(b"Upgrade", st.sampled_from([b"websocket", b"h2c"])),
    named(b"Content-Length", st.sampled_from([b"0", b"5", b"5, 5", b"-1", b"+5", b"0x5", b"", b"99999999999999999999"])),
    named(b"Transfer-Encoding", st.sampled_from([b"chunked", b"gzip", b"chunked, chunked", b"identity", b"xchunked"])),
    named(b"Host", st.sampled_from([b"a", b"", b"a b", b"a/b"])),
    st.tuples(token, text),
    st.tuples(any_octets, any_octets),
)
line_end = st.sampled_from([b"\r\n"] * 30 + [b"\n", b"\r", b"\r\r\n", b"\r\n "])
body = st.one_of(
    st.just(b""),
    st.sampled_from([b"12345", b"5\r\n12345\r\n0\r\n\r\n", b"0\r\n\r\n", b"5;a=b\r\n12345\r\n0\r\nT: v\r\n\r\n", b"fffffffffffffffff\r\n"]),
    any_octets,
)


@st.composite
def request(draw):
    hosts = [(b"Host", b"127.0.0.1")] if draw(st.integers(0, 9)) > 0 else []
    lines = [b" ".join([draw(method), draw(target), draw(version)])]
    lines += [name + b": " + value for name, value in hosts + draw(st.lists(field, max_size=6))]
    head = b"".join(line + draw(line_end) for line in lines)
    return head + draw(line_end) + draw(body)


@st.composite
def conversation(draw):
    octets = b"".join(draw(st.lists(request(), min_size=1, max_size=3)))
    if draw(st.integers(0, 4)) == 0 and octets:
        at = draw(st.integers(0, len(octets) - 1))
        octets = octets[:at] + draw(any_octets) + octets[at + draw(st.integers(0, 3)) :]
    return octets, draw(st.integers(1, 4))


class Response:
    """A response that h11 parsed."""

    def __init__(self, head, body):
        self.status = head.status_code
        self.fields = [(bytes(name), bytes(value)) for name, value in head.headers.raw_items()]
        self.body = body

    def values(self, name):
        return [value for given, value in self.fields if given.lower() == name]


def exchange(octets, chunks=1):
    """Sends octets, half-closes the connection, and returns all octets until the server closes it."""
    with socket.create_connection(("127.0.0.1", PORT), timeout=PATIENCE) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        received = b""
        try:
            size = max(1, -(-len(octets) // chunks))
            for start in range(0, len(octets), size):
                connection.sendall(octets[start : start + size])
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # After a rejection, the server does not wait for the rest.
        while True:
            try:
                data = connection.recv(65536)
            except ConnectionResetError:
                return received
            if not data:
                return received
            received += data


def read_responses(octets, methods):
    """Splits what came back into responses; `methods` are those of the requests, in their order.

    Raises h11.RemoteProtocolError where it is no HTTP, or breaks off.
    """
    responses = []
    rest = octets
    while rest:
        method = methods[len(responses)] if len(responses) < len(methods) else b"GET"
        client = h11.Connection(our_role=h11.CLIENT)
        client.send(h11.Request(method=method, target="/", headers=[("Host", "a")]))
        client.send(h11.EndOfMessage())
        client.receive_data(rest)
        client.receive_data(b"")
        head, body = None, b""
        while True:
            event = client.next_event()
            if isinstance(event, h11.InformationalResponse):
                continue
            elif isinstance(event, h11.Response):
                head = event
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                break
            else:
                raise h11.RemoteProtocolError(f"unexpected {event!r} after {octets[:200]!r}")
        responses.append(Response(head, body))
        rest = client.trailing_data[0]
    return responses


def read_requests(octets):
    """The requests that a strict reader sees, as method and octets, whether it has understood everything, and how many
    responses there may be: one to what is no request, and none to a broken body whose request was answered."""
    requests, rest = [], octets
    while rest:
        server = h11.Connection(our_role=h11.SERVER, max_incomplete_event_size=16384)
        try:
            server.receive_data(rest)
            server.receive_data(b"")
            event = server.next_event()
        except h11.RemoteProtocolError:
            return requests, False, len(requests) + 1
        if not isinstance(event, h11.Request):
            return requests, False, len(requests) + 1
        method = bytes(event.method)
        # h11 does not implement this rule (RFC 9112 §9.3).
        options = connection_options(event.headers)
        is_kept = event.http_version == b"1.0" and b"keep-alive" in options and b"close" not in options
        try:
            while not isinstance(event, h11.EndOfMessage):
                event = server.next_event()
        except h11.RemoteProtocolError:  # The body is malformed or incomplete. The server may have answered the head.
            return [*requests, (method, rest)], False, len(requests) + 1
        after = server.trailing_data[0]
        requests.append((method, rest[: len(rest) - len(after)]))
        if server.their_state is h11.MUST_CLOSE and not is_kept:
            break
        rest = after
    return requests, True, len(requests)


def connection_options(fields):
    values = [value for name, value in fields if name == b"connection"]
    return {option.strip().lower() for option in b",".join(values).split(b",")}


def check(octets, pieces):
    """Fails if the answers differ from those that h11, a strict parser of both directions, expects."""
    received = exchange(octets, pieces)
    requests, is_understood, most = read_requests(octets)
    methods = [method for method, _ in requests]
    responses = read_responses(received, methods)
    for response in responses:
        assert response.status < 500 or response.status == 505, f"{response.status} to {octets!r}"
        for name in (b"content-length", b"content-type", b"cache-control", b"etag", b"vary", b"date"):
            assert len(response.values(name)) <= 1, f"{name!r} twice to {octets!r}"
    assert len(responses) <= most, f"{len(responses)} responses to at most {most} requests: {octets!r}"
    if is_understood and len(responses) < len(methods):
        check_end(responses, *requests[len(responses)])


def check_end(responses, method, octets):
    """An unanswered request follows an answer that closes, is rejected when it is sent alone, or is a CONNECT."""
    if method == b"CONNECT" or any(is_closing(response) for response in responses[-1:]):
        return
    statuses = [response.status for response in read_responses(exchange(octets), [method])]
    assert len(statuses) == 1 and 400 <= statuses[0] <= 505, f"answered when sent alone, but not after another request: {octets!r}"


def is_closing(response):
    return any(value.lower() == b"close" for value in response.values(b"connection"))


def check_alive():
    [response] = read_responses(exchange(b"GET /small.txt HTTP/1.1\r\nHost: a\r\n\r\n"), [b"GET"])
    assert (response.status, response.body) == (200, b"small\n")


@seed(SEED)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate, Phase.shrink],
    print_blob=False,
)
@given(conversation())
def fuzz(example):
    octets, pieces = example
    check(octets, pieces)


def main():
    fuzz()
    check_alive()
    print(f"hypothesis and h11: {EXAMPLES} conversations (SERVE_DIST_SEED={SEED}), 0 findings")
    return 0


if __name__ == "__main__":
    sys.exit(main())
