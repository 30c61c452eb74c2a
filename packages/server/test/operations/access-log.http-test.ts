import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { refusedExchange } from '../../src/operations/exchange.ts'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { freePort } from '../support/free-port.ts'
import { http2Request } from '../support/http2-request.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { openConnection } from '../support/open-connection.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { testedEngine } from '../support/tested-engine.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const large = Buffer.alloc(16 * 1024 * 1024, 'abcdefg')

let directory: string
beforeAll(async () => {
  directory = await buildFixture(
    { 'index.html': 'page', 'assets/app-1a2b.js': compressibleText(5000), 'large.bin': large },
    { isHashed: (path) => path.includes('-1a2b') },
  )
})

type Happen = (port: number) => Promise<void>

/** Starts the command, runs an action and stops it with SIGTERM. Returns the lines of the log. */
async function linesOf(
  args: readonly string[],
  happen: Happen,
  folder: string = directory,
): Promise<string[]> {
  const command = spawnCommand([folder, '--port', '0', ...args])
  const { port, line } = await command.listening
  await happen(port)
  command.child.kill('SIGTERM')
  const { code, stdout, stderr } = await command.exited
  expect([code, stderr]).toEqual([0, ''])
  const lines = stdout.trimEnd().split('\n')
  return lines.filter((text) => text !== line && !text.startsWith('redirecting HTTP'))
}

/** Sends literal malformed octets, and waits for the end of the connection. */
async function refusalOf(port: number, octets: string): Promise<void> {
  const connection = await openConnection(port)
  connection.send(octets)
  expect((await connection.rest()).toString('latin1')).toMatch(/^HTTP\/1\.1 [45]\d\d /)
}

async function entriesOf(
  args: readonly string[],
  happen: Happen,
  folder?: string,
): Promise<Record<string, unknown>[]> {
  const lines = await linesOf(['--access-log', 'json', ...args], happen, folder)
  return lines.map((line): Record<string, unknown> => JSON.parse(line))
}

describe('--access-log json', () => {
  test('has the request and the response', async () => {
    const [entry, ...more] = await entriesOf([], async (port) => {
      await rawRequest(port, {
        target: '/assets/app-1a2b.js?v=1',
        fields: { 'Accept-Encoding': 'gzip', 'User-Agent': 'a test', Referer: 'http://example.org/' },
      })
    })
    expect(more).toEqual([])
    expect(entry).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      client: '127.0.0.1',
      method: 'GET',
      target: '/assets/app-1a2b.js?v=1',
      protocol: 'HTTP/1.1',
      host: 'example.org',
      status: 200,
      coding: 'gzip',
      cache: 'immutable',
      bytes: expect.any(Number),
      durationMs: expect.any(Number),
      buildId: expect.stringMatching(/^[\da-f]{16,}$/),
      referer: 'http://example.org/',
      userAgent: 'a test',
    })
  })

  test('marks a missing hashed file, with the build ID of the page that requested it', async () => {
    const folder = await buildFixture(
      { 'index.html': 'page', 'assets/app-1a2b.js': 'script' },
      { isHashed: (path) => path.includes('-1a2b'), appType: 'spa', assetsDirectory: 'assets' },
    )
    const referers = ['https://example.org/assets/app-1a2b.js', 'https://example.org/']
    const entries = await entriesOf(
      [],
      async (port) => {
        for (const Referer of referers) {
          await rawRequest(port, { target: '/assets/gone-9z.js', fields: { Referer } })
        }
        await rawRequest(port, { target: '/gone.js', fields: { Referer: referers[0] ?? '' } })
      },
      folder,
    )
    expect(entries.map(({ skewMiss, refererBuildId }) => [skewMiss, refererBuildId])).toEqual([
      [true, entries[0]?.['buildId']],
      [true, undefined],
      [undefined, undefined],
    ])
  })

  test('has each kind of response, from memory and streamed', async () => {
    const kinds: readonly (readonly [object, object])[] = [
      [{ target: '/' }, { status: 200, coding: 'identity', cache: 'revalidate', bytes: 4 }],
      [{ method: 'HEAD' }, { status: 200, bytes: 0 }],
      [{ fields: { 'If-None-Match': '*' } }, { status: 304, bytes: 0 }],
      [
        { target: '/large.bin', fields: { Range: 'bytes=0-9' } },
        { status: 206, bytes: 10 },
      ],
      [{ target: '/x.js' }, { status: 404, cache: 'no-store', bytes: 14 }],
      [{ method: 'DELETE' }, { status: 405, cache: 'no-store' }],
      [{ target: '/%' }, { status: 400, level: 'info' }],
    ]
    for (const args of [[], ['--memory-budget', '0']]) {
      const entries = await entriesOf(args, async (port) => {
        for (const [request] of kinds) await rawRequest(port, request)
      })
      expect(entries).toEqual(kinds.map(([, expected]) => expect.objectContaining(expected)))
    }
  })

  test("derives the cache class from a rule's field in any letter case", async () => {
    const folder = await buildFixture({ 'index.html': 'page', 'a.txt': 'a', 'b.txt': 'b' })
    const config = join(await temporaryDirectory(), 'config.json')
    const headers = { 'a.txt': { 'cache-control': 'no-store' }, 'b.txt': { 'CACHE-control': 'no-cache' } }
    await writeFile(config, JSON.stringify({ headers }))
    const entries = await entriesOf(
      ['--config', config],
      async (port) => {
        for (const target of ['/a.txt', '/b.txt']) await rawRequest(port, { target })
      },
      folder,
    )
    expect(entries.map(({ target, cache }) => [target, cache])).toEqual([
      ['/a.txt', 'no-store'],
      ['/b.txt', 'revalidate'],
    ])
  })

  test('has rejected requests, with all values that are known', async () => {
    const head = 'GET /a HTTP/1.1\r\nHost: a\r\n'
    const refused: readonly (readonly [string, object])[] = [
      [`${head}Host: b\r\n\r\n`, { status: 400, method: 'GET', target: '/a', cache: 'no-store' }],
      [`${head}Expect: x\r\n\r\n`, { status: 417, method: 'GET', protocol: 'HTTP/1.1' }],
      ['GET /b HTTP/1.1\r\n\r\n', { status: 400, target: '/b' }],
      ['GET / HTTP/2.0\r\nHost: a\r\n\r\n', { status: 505, host: 'a', protocol: 'HTTP/2.0' }],
      [`${head}X: ${'a'.repeat(17_000)}\r\n\r\n`, { status: 431, method: '', error: 'HPE_HEADER_OVERFLOW' }],
      [`CONNECT${head.slice(3)}\r\n`, { status: 405, method: '', error: 'ERR_TUNNEL_REFUSED' }],
      ['hello\r\n\r\n', { status: 400, method: '', target: '', error: 'HPE_INVALID_METHOD' }],
    ]
    const entries = await entriesOf([], async (port) => {
      for (const [request] of refused) await refusalOf(port, request)
    })
    const client = '127.0.0.1'
    expect(entries).toEqual(refused.map(([, known]) => expect.objectContaining({ client, ...known })))
  })

  test('has a line for malformed input after a response, but not after the last response', async () => {
    const garbage = 'hello\r\n\r\n'
    const entries = await entriesOf(['--memory-budget', '8m'], async (port) => {
      const last = await openConnection(port)
      last.send(formatRequest({ fields: { Connection: 'close' } }) + garbage)
      await last.rest()
      const underWay = await openConnection(port)
      underWay.send(formatRequest({ target: '/large.bin' }))
      await once(underWay.socket, 'data')
      underWay.send(garbage)
      await underWay.rest()
      // Lines of closed connections precede those of later requests.
      await rawRequest(port, { target: '/unknown.js' })
    })
    expect(entries.map(({ target, status, aborted }) => [target, status, aborted])).toEqual([
      ['/', 200, undefined],
      ['/large.bin', 200, undefined],
      ['', 400, undefined],
      ['/unknown.js', 404, undefined],
    ])
  })

  test.each([
    [
      'a Response',
      `const body = () => new ReadableStream({ start(controller) {
        controller.enqueue(new TextEncoder().encode('begun')); fail = () => controller.error(late) } })
      export default { fetch: ({ url }) => url.endsWith('/fail') ? new Response(fail()) : new Response(body()) }`,
    ],
    [
      'a Node handler',
      `export default (req, res) => {
        if (req.url === '/fail') { fail(); return res.end() }
        res.write('begun'); fail = () => res.destroy(late) }`,
    ],
  ])('has one line if a response fails with a DOMException of its upstream: %s', async (_how, handler) => {
    const modules = await writeFixture({
      'entry.mjs': `let fail; const late = new DOMException('late', 'TimeoutError'); ${handler}`,
    })
    const entry = join(modules, 'entry.mjs')
    const command = spawnCommand([directory, '--port', '0', '--access-log', 'json', '--ssr', entry])
    const { port } = await command.listening
    const connection = await openConnection(port)
    connection.send(formatRequest({ target: '/api' }))
    await once(connection.socket, 'data')
    expect((await rawRequest(port, { target: '/fail' })).status).toBe(200)
    await connection.rest()
    expect((await rawRequest(port)).status).toBe(200)
    command.child.kill('SIGTERM')
    const { code, stdout, stderr } = await command.exited
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('TypeError')])
    const entries = stdout.split('\n').filter((line) => line.startsWith('{'))
    expect(entries).toHaveLength(3)
    expect(entries.map((line): unknown => JSON.parse(line))).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ target: '/api', status: 200, aborted: true }),
        expect.objectContaining({ target: '/', status: 200 }),
      ]),
    )
  })

  test('has redirects to HTTPS, and requests that HTTP/2 rejects', async () => {
    const { cert, key } = await writeCertificate()
    const redirectPort = await freePort()
    const flags = ['--tls-cert', cert, '--tls-key', key, '--redirect-http', String(redirectPort)]
    const entries = await entriesOf(flags, async (port) => {
      await rawRequest(redirectPort, { target: '/x?y' })
      await refusalOf(redirectPort, 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n')
      await http2Request(port, { fields: { ':authority': 'a', host: 'b' } })
    })
    expect(entries).toMatchObject([
      { status: 308, target: '/x?y', cache: 'revalidate', protocol: 'HTTP/1.1' },
      { status: 400, target: '/', cache: 'no-store', protocol: 'HTTP/1.1' },
      { status: 400, target: '/', cache: 'no-store', protocol: 'HTTP/2.0' },
    ])
  })

  test('has one line for each request, under load, pipelined, and with clients that leave early', async () => {
    const requests = 300
    const entries = await entriesOf(['--memory-budget', '8m'], async (port) => {
      const loads = Array.from({ length: 8 }, async () => {
        const connection = await openConnection(port)
        for (let index = 0; index < requests; index += 1) {
          connection.send(formatRequest({ target: '/', fields: { 'User-Agent': 'steady' } }))
          await connection.receive()
        }
        connection.socket.end()
      })
      // Each client reads part of the first response, and never the second.
      const leaving = Array.from({ length: 20 }, async () => {
        const connection = await openConnection(port)
        const fields = { 'User-Agent': 'leaving' }
        const first = formatRequest({ target: '/large.bin', fields })
        connection.send(first + formatRequest({ target: '/', fields }))
        await once(connection.socket, 'data')
        connection.socket.destroy()
      })
      await Promise.all([...loads, ...leaving])
    })
    const of = (userAgent: string) => entries.filter((entry) => entry['userAgent'] === userAgent)
    expect(of('steady')).toHaveLength(8 * requests)
    expect(of('steady').filter(({ status, aborted }) => status !== 200 || aborted === true)).toEqual([])
    // After a response of Node, the engine does not read pipelined requests of a client that has left.
    const left = testedEngine === 'node' ? 40 : 20
    expect(of('leaving').map(({ aborted }) => aborted)).toEqual(Array.from({ length: left }, () => true))
    const bytes = of('leaving').map((entry) => Number(entry['bytes']))
    expect(Math.max(...bytes)).toBeLessThan(large.length)
  })

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'is complete if a second %s ends the process at once',
    async (signal) => {
      const command = spawnCommand([directory, '--port', '0', '--access-log', 'json'])
      const { port, line } = await command.listening
      const stalled = await openConnection(port)
      stalled.send(formatRequest({ target: '/large.bin' }))
      await once(stalled.socket, 'data')
      stalled.socket.pause()
      for (let index = 0; index < 5; index += 1) await rawRequest(port)
      command.child.kill(signal)
      await vi.waitFor(async () => {
        await expect(openConnection(port)).rejects.toThrow('ECONNREFUSED')
      })
      command.child.kill(signal)
      const { code, stdout } = await command.exited
      stalled.socket.destroy()
      expect(code).toBe(1)
      expect(stdout.replace(`${line}\n`, '').trimEnd().split('\n')).toHaveLength(5)
    },
  )

  test('cannot be forged by input of a client', async () => {
    const hostile = 'a"\\}\t\u009B31m\u00E9","status":1'
    const entries = await entriesOf([], async (port) => {
      await rawRequest(port, { target: '/"%0a{}', fields: { 'User-Agent': hostile, Referer: hostile } })
    })
    const escaped = 'a"\\}\\x09\\x9b31m\u00E9","status":1'
    expect(entries).toEqual([
      expect.objectContaining({ target: '/"%0a{}', userAgent: escaped, referer: escaped, status: 400 }),
    ])
  })

  test.each([
    ['one signal', '200ms', 0],
    ['a second one', '1m', 1],
  ])('without a reader does not block the process: %s ends it', async (_what, grace, expected) => {
    const command = spawnCommand([directory, '--port', '0', '--access-log', 'json', '--grace', grace])
    const { port } = await command.listening
    command.child.stdout?.removeAllListeners('data').pause()
    const fields = { 'User-Agent': 'u'.repeat(1000) }
    const connection = await openConnection(port)
    for (let index = 0; index < 1000; index += 1) {
      connection.send(formatRequest({ fields }))
      await connection.receive()
    }
    connection.send(formatRequest({ target: '/large.bin' }))
    await once(connection.socket, 'data')
    connection.socket.pause()
    const exited = once(command.child, 'exit')
    command.child.kill('SIGTERM')
    await vi.waitFor(async () => {
      await expect(openConnection(port)).rejects.toThrow('ECONNREFUSED')
    })
    if (expected === 1) command.child.kill('SIGTERM')
    expect(await exited).toEqual([expected, null])
    connection.socket.destroy()
    command.child.stdout?.destroy()
  })

  test('may lose its reader: the server continues', async () => {
    const command = spawnCommand([directory, '--port', '0', '--access-log', 'json'])
    const { port } = await command.listening
    command.child.stdout?.destroy()
    for (let index = 0; index < 200; index += 1) {
      expect((await rawRequest(port, { fields: { 'User-Agent': 'u'.repeat(900) } })).status).toBe(200)
    }
    command.child.kill('SIGTERM')
    expect((await command.exited).code).toBe(0)
  })
})

describe('a log that cannot be written', () => {
  const source = fileURLToPath(new URL('../../dist/operations/access-log.js', import.meta.url))
  const exchange = JSON.stringify({ ...refusedExchange, status: 400, address: '' })

  /** Runs a program that has a `log` and the given standard output. */
  function run(program: string, output: number | 'pipe'): ChildProcess {
    const code = `import { openAccessLog } from ${JSON.stringify(source)}
      const log = await openAccessLog('json', { onProblem: (problem) => console.error(problem) })
      const fill = (lines) => { for (let line = 0; line < lines; line += 1) log.write(${exchange}, 'build') }
      ${program}`
    return spawn(process.execPath, ['--input-type=module', '--eval', code], {
      stdio: ['ignore', output, 'pipe'],
    })
  }

  test.each(['await log.close()', 'setTimeout(() => process.exit(0), 1000)'])(
    'because the disk is full does not block the process: %s',
    async (end) => {
      const full = await open('/dev/full', 'w')
      const child = run(`fill(100); setTimeout(async () => { fill(1); ${end} }, 500)`, full.fd)
      const told = child.stderr === null ? '' : textOf(child.stderr)
      expect(await once(child, 'exit')).toEqual([0, null])
      expect(await told).toMatch(/^cannot write the access log: .*ENOSPC/)
      await full.close()
    },
  )

  test.each(['', 'process.exit(0)'])(
    'because the reader has stopped does not block the process after close(): %s',
    async (end) => {
      const child = run(`fill(5000); await log.close(); ${end}`, 'pipe')
      child.stdout?.pause()
      expect(await once(child, 'exit')).toEqual([0, null])
      child.stdout?.destroy()
    },
  )

  test('because the reader has gone does not block a process that exits at once', async () => {
    const child = run('fill(3); process.exit(3)', 'pipe')
    child.stdout?.destroy()
    expect(await once(child, 'exit')).toEqual([3, null])
  })

  test('because the reader goes during close() is still closed', async () => {
    const child = run(`fill(5000); await log.close(); process.exitCode = 3`, 'pipe')
    child.stdout?.destroy()
    expect(await once(child, 'exit')).toEqual([3, null])
  })
})

describe('--access-log common', () => {
  test('writes the Combined Log Format', async () => {
    const lines = await linesOf(['--access-log', 'common'], async (port) => {
      await rawRequest(port, { fields: { 'User-Agent': 'a"b\\c\t\u00E9', Referer: 'http://a/' } })
      await rawRequest(port, { method: 'HEAD', target: '/".js' })
      await refusalOf(port, 'hello\r\n\r\n')
    })
    const time = String.raw`\[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d \+0000\]`
    const rests = [
      String.raw`"GET / HTTP/1\.1" 200 4 "http://a/" "a\\"b\\\\c\\x09\\xe9"`,
      String.raw`"HEAD /\\"\.js HTTP/1\.1" 404 - "-" "-"`,
      String.raw`"-" 400 - "-" "-"`,
    ]
    expect(lines).toEqual(
      rests.map((rest) => expect.stringMatching(new RegExp(String.raw`^127\.0\.0\.1 - - ${time} ${rest}$`))),
    )
  })
})

describe('--trust-proxy', () => {
  const fields = { 'X-Forwarded-For': '8.8.8.8, 192.0.2.7', Forwarded: 'for=8.8.4.4' }

  test.each([
    [[], '127.0.0.1'],
    [['--trust-proxy', 'loopback'], '192.0.2.7'],
    [['--trust-proxy', '2'], '8.8.8.8'],
    [['--trust-proxy', '10.0.0.0/8'], '127.0.0.1'],
  ])('%j: %s', async (args, client) => {
    const entries = await entriesOf(args, async (port) => {
      await rawRequest(port, { fields })
    })
    expect(entries).toEqual([expect.objectContaining({ client })])
  })

  test('rejects an invalid proxy at the start', async () => {
    const { code, stderr } = await spawnCommand([directory, '--trust-proxy', 'everybody']).exited
    expect(code).toBe(1)
    expect(stderr).toContain('--trust-proxy: expected a number of proxies')
  })
})
