import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { createServer } from 'node:https'
import { TLSSocket } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { freePort } from '../support/free-port.ts'
import { http2Request } from '../support/http2-request.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { openConnection } from '../support/open-connection.ts'
import { formatRequest, rawRequest, type RawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { startServer } from '../support/start-server.ts'
import { startTarget } from '../support/start-target.ts'

const directory = await buildFixture({ 'index.html': 'the page' })

interface Started {
  readonly options?: Parameters<typeof startServer>[1]
  readonly rule?: object
  readonly answer?: string
  readonly to?: string
}

async function start({ options = {}, rule = {}, answer, to = '/' }: Started = {}) {
  const target = await startTarget(
    answer === undefined ? undefined : (_request, socket) => void socket.write(answer),
  )
  const redirects = [
    { from: '/api/*', to: `${target.url}${to}:splat`, status: 200, force: true, ...rule },
  ] as const
  const server = await startServer(directory, { ...options, site: { rules: { redirects } } })
  return { target, server }
}

/** Returns the field lines that arrived at the target, without the first line. */
async function linesOf(started: Started, request: RawRequest): Promise<readonly string[]> {
  const { target, server } = await start(started)
  const { status } = await rawRequest(server.port, { target: '/api/x', ...request })
  expect(status).toBe(200)
  return (target.requests[0]?.lines ?? []).filter((line) => !/^connection:/i.test(line))
}

describe('a request for the target', () => {
  const ours = [
    'host: example.org',
    'X-Forwarded-For: 127.0.0.1',
    'X-Forwarded-Proto: http',
    'X-Forwarded-Host: example.org',
    'X-Real-IP: 127.0.0.1',
  ]

  test('has the fields of the client, and ours', async () => {
    const fields = { Accept: 'a/b', 'X-Own': '1', Authorization: 'Basic eA==', Cookie: 'a=b', TE: 'trailers' }
    expect((await linesOf({}, { fields })).toSorted()).toEqual(
      [...ours, 'Accept: a/b', 'X-Own: 1', 'Authorization: Basic eA==', 'Cookie: a=b'].toSorted(),
    )
  })

  test('has no hop-by-hop fields, and no fields that `Connection` names, except ours', async () => {
    const { target, server } = await start()
    const connection = await openConnection(server.port)
    connection.send(
      'GET /api/x HTTP/1.1\r\nHost: example.org\r\nConnection: close, X-Gone, x-real-ip, host, X-Forwarded-For\r\nX-Gone: 1\r\nX_Gone: 1\r\nKeep-Alive: timeout=5\r\nProxy-Authorization: x\r\nProxy-Anything: x\r\nTE: gzip\r\nTrailer: a\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n',
    )
    expect((await connection.receive()).status).toBe(200)
    expect(target.requests[0]?.lines.filter((line) => !/^connection:/i.test(line)).toSorted()).toEqual(
      ours.toSorted(),
    )
  })

  test('has no `Proxy`, and no removed field with underscores', async () => {
    const fields = {
      Proxy: 'http://evil.example',
      Proxy_Authorization: 'x',
      Content_Length: '9',
      Transfer_Encoding: 'chunked',
      Keep_Alive: 'timeout=5',
      HTTP2_Settings: 'AA',
    }
    const length = 'Content-Length: 2'
    const lines = await linesOf(
      {},
      { method: 'POST', fields: { ...fields, 'Content-Length': '2' }, body: 'ab' },
    )
    expect(lines.map((line) => line.replace(/^content-length/, 'Content-Length')).toSorted()).toEqual(
      [...ours, length].toSorted(),
    )
  })

  const forged = {
    'X-Forwarded-For': '192.0.2.1',
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Host': 'evil.example',
    'X-Real-IP': '192.0.2.1',
    Forwarded: 'for=192.0.2.1',
    x_real_ip: '192.0.2.1',
  }

  test('replaces what an untrusted client says about itself', async () => {
    expect((await linesOf({}, { fields: forged })).toSorted()).toEqual(ours.toSorted())
    const other = { operations: { trustProxy: '192.0.2.0/24' } }
    expect((await linesOf({ options: other }, { fields: forged })).toSorted()).toEqual(ours.toSorted())
  })

  test('keeps what a trusted proxy says, and appends its address', async () => {
    const trusting = { operations: { trustProxy: 'loopback' } }
    expect((await linesOf({ options: trusting }, { fields: forged })).toSorted()).toEqual(
      [
        'host: example.org',
        'X-Forwarded-For: 192.0.2.1, 127.0.0.1',
        'X-Forwarded-Proto: https',
        'X-Forwarded-Host: evil.example',
        'X-Real-IP: 192.0.2.1',
        'Forwarded: for=192.0.2.1',
      ].toSorted(),
    )
    const [, , , , address] = [...(await linesOf({ options: trusting }, {})), '']
    expect(address).toBe('X-Real-IP: 127.0.0.1')
  })

  test('has the host of the target, if the rule says so', async () => {
    const { target, server } = await start({ rule: { host: 'target' } })
    await rawRequest(server.port, { target: '/api/x' })
    expect(target.requests[0]?.values('Host')).toEqual([`127.0.0.1:${target.port}`])
    expect(target.requests[0]?.values('X-Forwarded-Host')).toEqual(['example.org'])
  })

  test('has the fields of the rule', async () => {
    const rule = {
      request: { 'X-Token': 'secret', Cookie: null, 'x-forwarded-proto': 'https', Accept: 'c/d' },
    }
    const fields = { Cookie: 'a=b', accept: 'a/b', 'x-TOKEN': 'forged', X_Token: 'forged' }
    const lines = await linesOf({ rule }, { fields })
    expect(lines.toSorted()).toEqual(
      [
        ...ours.filter((line) => !line.includes('Proto')),
        'X-Token: secret',
        'x-forwarded-proto: https',
        'Accept: c/d',
      ].toSorted(),
    )
  })

  test('needs no host over HTTP/1.0', async () => {
    const { target, server } = await start()
    const connection = await openConnection(server.port)
    connection.send('GET /api/x HTTP/1.0\r\n\r\n')
    expect((await connection.receive()).status).toBe(200)
    expect(target.requests[0]?.values('Host')).toEqual([`127.0.0.1:${target.port}`])
    expect(target.requests[0]?.line).toBe('GET /x HTTP/1.1')
  })

  test('has one `Cookie` and the authority as `Host` over HTTP/2', async () => {
    const { target, server } = await start({ options: { tls: await writeCertificate() } })
    const fields = { ':authority': 'site.example', cookie: 'a=b', 'x-own': '1' }
    expect(
      (await http2Request(server.port, { target: '/api/x', fields, body: 'b', method: 'POST' })).status,
    ).toBe(200)
    const [request] = target.requests
    expect(request?.values('Host')).toEqual(['site.example'])
    expect(request?.values('Cookie')).toEqual(['a=b'])
    expect(request?.values('X-Forwarded-Proto')).toEqual(['https'])
    expect(request?.lines.filter((line) => line.startsWith(':'))).toEqual([])
    expect(request?.body).toBe('b')
  })
})

describe('an answer for the client', () => {
  test('has the fields of the target without hop-by-hop fields, and our date', async () => {
    const answer =
      'HTTP/1.1 418 Teapot\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nX-Own: 1\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\nX-Accel-Buffering: no\r\nConnection: keep-alive, X-Gone\r\nX-Gone: 1\r\nKeep-Alive: timeout=9\r\nProxy-Authenticate: x\r\nTrailer: x\r\nServer: own\r\nContent-Length: 2\r\n\r\nok'
    const { server } = await start({ answer })
    const response = await rawRequest(server.port, { target: '/api/x' })
    expect(response.status).toBe(418)
    expect(response.fields.filter(([name]) => !/^(?:connection|date)$/i.test(name))).toEqual([
      ['X-Own', '1'],
      ['Set-Cookie', 'a=b'],
      ['Set-Cookie', 'c=d'],
      ['Server', 'own'],
      ['Content-Length', '2'],
    ])
    expect(Date.parse(response.field('Date') ?? '')).toBeGreaterThan(Date.UTC(2020))
  })

  test.each([
    ['/v1/', 'TARGET/v1/a?b', '/api/a?b'],
    ['/v1/', 'TARGET/v1', 'TARGET/v1'],
    ['/v1/', 'TARGET/other', 'TARGET/other'],
    ['/v1/', 'https://else.example/v1/a', 'https://else.example/v1/a'],
    ['/v1/', '/v1/a', '/v1/a'],
    ['/', 'TARGET/a', '/api/a'],
    ['/', 'TARGET.evil.example/a', 'TARGET.evil.example/a'],
  ])('with the address %s has the location %s as %s', async (to, location, expected) => {
    const own: { url?: string } = {}
    const target = await startTarget((_request, socket) => {
      const place = location.replace('TARGET', own.url ?? '')
      socket.write(`HTTP/1.1 302 Found\r\nLocation: ${place}\r\nContent-Length: 0\r\n\r\n`)
    })
    own.url = target.url
    const redirects = [{ from: '/api/*', to: `${target.url}${to}:splat`, status: 200 }] as const
    const server = await startServer(directory, { site: { rules: { redirects } } })
    const response = await rawRequest(server.port, { target: '/api/x' })
    expect(response.field('Location')).toBe(expected.replace('TARGET', target.url))
  })

  test('has the fields of the rule', async () => {
    const answer = 'HTTP/1.1 200 OK\r\nX-A: 1\r\nX-A: 2\r\nServer: own\r\nContent-Length: 2\r\n\r\nok'
    const { server } = await start({ answer, rule: { answer: { 'x-a': '3', Server: null, 'X-New': 'n' } } })
    const response = await rawRequest(server.port, { target: '/api/x' })
    expect([response.field('X-A'), response.field('Server'), response.field('X-New')]).toEqual([
      '3',
      undefined,
      'n',
    ])
  })

  test('is the answer to a preflight, if the rule allows other origins', async () => {
    const rule = {
      answer: {
        'Access-Control-Allow-Origin': 'https://a.example',
        'Access-Control-Allow-Credentials': 'true',
      },
    }
    const { target, server } = await start({ rule })
    const fields = { Origin: 'https://a.example', 'Access-Control-Request-Method': 'PUT' }
    const response = await rawRequest(server.port, { target: '/api/x', method: 'OPTIONS', fields })
    expect(response.status).toBe(204)
    expect(response.field('Access-Control-Allow-Origin')).toBe('https://a.example')
    expect(response.field('Access-Control-Allow-Credentials')).toBe('true')
    expect(response.field('Access-Control-Allow-Methods')).toContain('PUT')
    expect(target.requests).toHaveLength(0)
    expect((await rawRequest(server.port, { target: '/api/x', method: 'OPTIONS' })).status).toBe(200)
    expect(target.requests).toHaveLength(1)
  })

  test('is compressed if the target did not compress it', async () => {
    const text = 'text '.repeat(1000)
    const head = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${text.length}\r\n`
    const ask = async (
      extra: string,
      fields: Readonly<Record<string, string>> = { 'Accept-Encoding': 'gzip' },
    ) => {
      const { server } = await start({ answer: `${head}${extra}\r\n${text}` })
      return await rawRequest(server.port, { target: '/api/x', fields })
    }
    const compressed = await ask('ETag: "a"\r\nVary: Origin\r\n')
    expect(compressed.field('Content-Encoding')).toBe('gzip')
    expect(compressed.field('Vary')).toBe('Origin, Accept-Encoding')
    expect(compressed.field('ETag')).toBe('W/"a"')
    expect(compressed.body.length).toBeLessThan(200)
    const plain = await ask('', {})
    expect([plain.field('Vary'), plain.body.toString()]).toEqual(['Accept-Encoding', text])
    expect((await ask('Cache-Control: no-transform\r\n')).field('Content-Encoding')).toBeUndefined()
    expect((await ask('Content-Encoding: x-own\r\n')).field('Content-Encoding')).toBe('x-own')
  })
})

test('joins cookies of HTTP/2, and passes 103 and trailers on', async () => {
  const answer =
    'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 9\r\n\r\n'
  const { target, server } = await start({ answer, options: { tls: await writeCertificate() } })
  const session = connect(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false })
  const stream = session.request({ ':path': '/api/x', cookie: ['a=b', 'c=d'] })
  const [hints] = await once(stream, 'headers')
  expect(hints).toMatchObject({ ':status': 103, link: '</a.css>; rel=preload' })
  stream.resume()
  const [trailers] = await once(stream, 'trailers')
  expect(trailers).toMatchObject({ 'x-sum': '9' })
  expect(target.requests[0]?.values('Cookie')).toEqual(['a=b; c=d'])
  session.destroy()
})

test('passes trailers on over HTTP/1.1', async () => {
  const answer = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 9\r\n\r\n'
  const { server } = await start({ answer })
  const connection = await openConnection(server.port)
  connection.send(formatRequest({ target: '/api/x', fields: { Connection: 'close' } }))
  expect((await connection.rest()).toString()).toMatch(/\r\n2\r\nok\r\n0\r\nX-Sum: 9\r\n\r\n$/)
})

test('verifies the certificate of a target for the name in its address', async () => {
  const [known, unknown] = [await writeCertificate(), await writeCertificate()]
  const addressOf = async ({ cert, key }: typeof known): Promise<string> => {
    const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
      const { socket, headers } = request
      response.end(`${socket instanceof TLSSocket ? socket.servername : ''} ${headers.host}`)
    })
    const port = await freePort()
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    return `https://localhost:${port}`
  }
  const rules = [`/known=${await addressOf(known)}`, `/unknown=${await addressOf(unknown)}`]
  const flags = rules.flatMap((rule) => ['--proxy', rule])
  const command = spawnCommand([directory, '--port', '0', ...flags], {
    env: { NODE_EXTRA_CA_CERTS: known.cert },
  })
  const { port } = await command.listening
  const answer = await rawRequest(port, { target: '/known' })
  expect([answer.status, answer.body.toString()]).toEqual([200, 'localhost example.org'])
  expect((await rawRequest(port, { target: '/unknown' })).status).toBe(502)
  command.child.kill('SIGTERM')
  await command.exited
})
