/** Requests that the server must reject before it looks up a resource, with the expected status. */
export const soakRefusals: readonly [Refusal, ...Refusal[]] = [
  [400, 'GET / HTTP/1.1\r\n\r\n'],
  [400, 'GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n'],
  [400, 'GET / HTTP/1.1\r\nHost: a b\r\n\r\n'],
  [400, 'GET / HTTP/1.1\r\nHost: \r\n\r\n'],
  [400, 'GET om://a/ HTTP/1.1\r\nHost: a\r\n\r\n'],
  [400, 'GET http:///a HTTP/1.1\r\nHost: a\r\n\r\n'],
  [400, 'GET * HTTP/1.1\r\nHost: a\r\n\r\n'],
  [405, 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n'],
  [400, 'get / HTTP/1.1\r\nHost: a\r\n\r\n'],
  [505, 'GET / HTTP/2.0\r\nHost: a\r\n\r\n'],
  [400, 'GET / HTTP/9.9\r\nHost: a\r\n\r\n'],
  [400, 'GET  HTTP/1.1\r\nHost: a\r\n\r\n'],
  [400, 'GET / HTTP/1.1\nHost: a\n\n'],
  [400, 'GET / HTTP/1.1\r\nHost: a\r\n folded: b\r\n\r\n'],
  [400, 'GET / HTTP/1.1\r\nHost : a\r\n\r\n'],
  [400, 'GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n'],
  [400, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  [400, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx'],
  [400, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n'],
  [400, 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n'],
  [400, '\u0016\u0003\u0001\u0000\u0000\r\n\r\n'],
  [431, `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
]

type Refusal = readonly [status: number, octets: string]
