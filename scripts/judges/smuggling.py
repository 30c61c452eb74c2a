"""Requests that two readers could split differently, each followed by one that must not be answered."""

SMUGGLED = b"GET /small.txt HTTP/1.1\r\nHost: a\r\n\r\n"
CHUNKED = b"0\r\n\r\n"

# Ways to write a Transfer-Encoding that some readers take for chunked, and others do not.
TRANSFER_ENCODINGS = [
    b"Transfer-Encoding : chunked",
    b"Transfer-Encoding\t: chunked",
    b" Transfer-Encoding: chunked",
    b"X: y\r\n Transfer-Encoding: chunked",
    b"Transfer-Encoding: xchunked",
    b"Transfer-Encoding: chunkedx",
    b"Transfer-Encoding: chunked\x00",
    b"Transfer-Encoding: \x0bchunked",
    b"Transfer-Encoding: chunked\x0c",
    b'Transfer-Encoding: "chunked"',
    b"Transfer-Encoding: 'chunked'",
    b"Transfer-Encoding: chunked, identity",
    b"Transfer-Encoding: identity, chunked",
    b"Transfer-Encoding: identity",
    b"Transfer-Encoding: chunked;q=1",
    b"Transfer-Encoding: chunk",
    b"Transfer-Encoding:\n chunked",
    b"Transfer-Encoding:\r\n chunked",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: x",
    b"Transfer\xadEncoding: chunked\r\nTransfer-Encoding: x",
    b"Transfer-Encoding: chunked\r\nContent-Length: 5",
    b"Content-Length: 5\r\nTransfer-Encoding: chunked",
    b"Content-Length: 5\r\ntransfer-encoding: CHUNKED",
    b"Foo: bar\rTransfer-Encoding: chunked",
    b"Foo: bar\nTransfer-Encoding: chunked",
    b"Foo: bar\r\r\nTransfer-Encoding: chunked",
    b"Foo\x00: bar\r\nTransfer-Encoding: chunked",
]

# Ways to write a length that is not one, or more than one.
LENGTHS = [
    b"Content-Length: 5\r\nContent-Length: 0",
    b"Content-Length: 0\r\nContent-Length: 5",
    b"Content-Length: 0, 5",
    b"Content-Length: 0\r\nContent-Length: 0",
    b"Content-Length: 0,0",
    b"Content-Length: +0",
    b"Content-Length: -0",
    b"Content-Length: 0x0",
    b"Content-Length: 0 0",
    b"Content-Length: 0;",
    b"Content-Length: 0.0",
    b"Content-Length: 1e0",
    b"Content-Length: 1_0",
    b"Content-Length: ",
    b"Content-Length: \x0b0",
    b"Content-Length : 0",
    b"Content-Length\x00: 0",
    b"Content-Length: 99999999999999999999999999",
    b"Content-Length: 18446744073709551616",
]

# Ways to end a line, or a head, that are none.
HEADS = [
    b"GET / HTTP/1.1\nHost: a\n\n",
    b"GET / HTTP/1.1\r\nHost: a\n\r\n",
    b"GET / HTTP/1.1\rHost: a\r\r",
    b"GET / HTTP/1.1\r\nHost: a\r\n\r",
    b"GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
    b"GET /\tHTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET / HTTP/1.1\r\n\tHost: a\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a, b\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nX: \x00\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n",
    b"GET / HTTP/1.10\r\nHost: a\r\n\r\n",
    b"GET / HTTP/01.1\r\nHost: a\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n\rz\r\n\r\n",
]


def post(lines, body):
    return b"POST / HTTP/1.1\r\nHost: a\r\n" + lines + b"\r\n\r\n" + body


CORPUS = (
    [(f"transfer coding {lines!r}", post(lines, CHUNKED + SMUGGLED)) for lines in TRANSFER_ENCODINGS]
    + [(f"length {lines!r}", post(lines, SMUGGLED)) for lines in LENGTHS]
    + [(f"head {head!r}", head + SMUGGLED) for head in HEADS]
)
