import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { copyFile, mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type ConnectionOptions } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { loadEngine } from '@serve-dist/engine'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { dialTls } from '../support/dial-tls.ts'
import { freePort } from '../support/free-port.ts'
import { http2Request } from '../support/http2-request.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { openConnection } from '../support/open-connection.ts'
import type { RawResponse } from '../support/parse-response.ts'
import { rawRequest } from '../support/raw-request.ts'
import { pemToBase64, readPeerCertificate } from '../support/read-peer-certificate.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

// The checks of HttpArena's scripts/validate.sh for an entry with `static-tls` and `static-h2`, at commit
// 01193b65.
const entry = fileURLToPath(new URL('../../../../deploy/httparena/', import.meta.url))
const bin = fileURLToPath(new URL('../../bin/serve-dist.js', import.meta.url))

const names = [
  ...['reset', 'layout', 'theme', 'components', 'utilities'].map((name) => `${name}.css`),
  ...['analytics', 'helpers', 'app', 'vendor', 'router'].map((name) => `${name}.js`),
  'header.html',
  'footer.html',
  'regular.woff2',
  'bold.woff2',
  'logo.svg',
  'icon-sprite.svg',
  'hero.webp',
  'thumb1.webp',
  'thumb2.webp',
  'manifest.json',
]
const accept = 'br;q=1, gzip;q=0.8'
/** Milliseconds after which HttpArena expects the new file of infrastructure entries. */
const staleWindow = 30_000

let data: string
let ports: readonly [plain: number, tls: number, h2: number]
let said: string
let stop: () => Promise<number | null>

// Test both engines, whichever the suite uses.
const engines = typeof loadEngine() === 'string' ? ['node'] : ['node', 'native']

describe.each(engines)('deploy/httparena over the engine %s', (engine) => {
  beforeAll(async () => {
    data = await temporaryDirectory()
    ports = [await freePort(), await freePort(), await freePort()]
    await Promise.all([mkdir(join(data, 'static')), mkdir(join(data, 'bin'))])
    await Promise.all(names.map(writeWithVariants))
    await symlink(bin, join(data, 'bin/serve-dist'))
    const { cert, key } = await writeCertificate()
    await Promise.all([copyFile(cert, join(data, 'server.crt')), copyFile(key, join(data, 'server.key'))])
    const dockerfile = await readFile(join(entry, 'Dockerfile'), 'utf8')
    const [command = '', ...args]: string[] = JSON.parse(/^CMD (.*)$/m.exec(dockerfile)?.[1] ?? '[]')
    const path = [join(data, 'bin'), process.env['PATH']].join(delimiter)
    const own = { PATH: path, DATA: data, CERTS: data, PORTS: ports.join(), SERVE_DIST_ENGINE: engine }
    const env = { ...process.env, ...own }
    const child = spawn(command, args, { cwd: entry, env, stdio: ['ignore', 'pipe', 'ignore'] })
    said = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    stop = async () => {
      if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit')
      return child.exitCode
    }
    await vi.waitFor(async () => {
      for (const port of ports) (await openConnection(port)).socket.destroy()
    }, staleWindow)
  }, 40_000)

  afterAll(() => stop())

  test('uses this engine on each of its servers', async () => {
    const all = [engine, engine, engine]
    await vi.waitFor(() => expect(said.match(/(?<=engine: )\w+/g)).toEqual(all))
  })

  test('names existing profiles, a type that may keep files in memory, and a Node version', async () => {
    const meta: unknown = JSON.parse(await readFile(join(entry, 'meta.json'), 'utf8'))
    expect(meta).toMatchObject({ type: 'infrastructure', tests: ['static-tls', 'static-h2'], enabled: true })
    expect(await readFile(join(entry, 'Dockerfile'), 'utf8')).toMatch(/^FROM \S+:\d\S*$/m)
  })

  test.each([
    ['reset.css', 'text/css'],
    ['app.js', 'text/javascript'],
    ['manifest.json', 'application/json'],
  ])('describes %s correctly over HTTP/1.1 and HTTP/2', async (name, type) => {
    for (const { status, field } of [await overTls(name), await overHttp2(name)]) {
      expect(status).toBe(200)
      expect(field('content-type')?.split(';')[0]).toBe(type)
    }
  })

  test.each(names)('serves the whole %s unencoded, and in brotli if it was compressed', async (name) => {
    const original = await readFile(join(data, 'static', name))
    expect((await overTls(name)).body).toEqual(original)
    for (const { field, body } of [await overTls(name, accept), await overHttp2(name, accept)]) {
      expect(field('content-encoding')).toBe(isText(name) ? 'br' : undefined)
      expect(isText(name) ? brotliDecompressSync(body) : body).toEqual(original)
    }
    const { body } = await overTls(name, 'gzip')
    expect(isText(name) ? gunzipSync(body) : body).toEqual(original)
  })

  test('answers 404 for a missing file', async () => {
    expect((await overTls('nonexistent.txt')).status).toBe(404)
    expect((await overHttp2('nonexistent.txt')).status).toBe(404)
  })

  test.each([
    ['hero.webp', 'identity', ['hero.webp']],
    ['app.js', accept, ['app.js', 'app.js.br', 'app.js.gz']],
  ])(
    'serves %s again after it is replaced by as many bytes, and then the original',
    async (name, codings, all) => {
      const { body: before } = await overTls(name, codings)
      for (const file of all) {
        const path = join(data, 'static', file)
        await copyFile(path, join(data, file))
        await writeFile(join(data, 'other'), randomBytes((await readFile(path)).length))
        await rename(join(data, 'other'), path)
      }
      const served = async (): Promise<Buffer> => (await overTls(name, codings)).body
      await vi.waitFor(async () => expect(await served()).not.toEqual(before), staleWindow)
      for (const file of all) await rename(join(data, file), join(data, 'static', file))
      await vi.waitFor(async () => expect(await served()).toEqual(before), staleWindow)
    },
    70_000,
  )

  test.each([[[11]], [[32, 49]], [[60]]])('reassembles a head that is cut at %j', async (cuts) => {
    const head = 'GET /static/reset.css HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
    const connection = await openConnection(ports[0])
    for (const [index, cut] of [0, ...cuts].entries()) {
      connection.send(head.slice(cut, cuts[index]))
      await delay(30)
    }
    expect((await connection.receive()).body).toEqual(await readFile(join(data, 'static/reset.css')))
    connection.socket.destroy()
  })

  test.each([
    ['static-tls', 1, 'http/1.1'],
    ['static-h2', 2, 'h2'],
  ] as const)(
    'serves TLS 1.3 with the certificate of the folder, for %s',
    async (_profile, index, protocol) => {
      expect(await handshake(ports[index], { ALPNProtocols: [protocol] })).toEqual({
        version: 'TLSv1.3',
        cipher: expect.stringMatching(/^TLS_(?:AES_(?:128|256)_GCM|CHACHA20_POLY1305)_SHA\d+$/),
        protocol,
      })
      const mounted = await readFile(join(data, 'server.crt'), 'latin1')
      expect(await readPeerCertificate(ports[index])).toBe(pemToBase64(mounted))
    },
  )

  test('rejects obsolete TLS versions, and ciphers without encryption or authentication', async () => {
    const [ciphers, version] = ['ALL:@SECLEVEL=0', 'TLSv1.2'] as const
    expect(await handshake(ports[1], { minVersion: version, maxVersion: version, ciphers })).toBeDefined()
    for (const obsolete of ['TLSv1', 'TLSv1.1'] as const) {
      const options = { minVersion: obsolete, maxVersion: obsolete, ciphers }
      expect(await handshake(ports[1], options)).toBeUndefined()
    }
    for (const weak of ['NULL:@SECLEVEL=0', 'aNULL:@SECLEVEL=0']) {
      expect(await handshake(ports[1], { maxVersion: version, ciphers: weak })).toBeUndefined()
    }
  })

  test('stops at a signal', async () => {
    expect(await stop()).toBe(0)
  })
})

function isText(name: string): boolean {
  return !/\.(?:woff2|webp)$/.test(name)
}

async function writeWithVariants(name: string): Promise<void> {
  const path = join(data, 'static', name)
  const body = isText(name) ? Buffer.from(`/* ${name} */\n`.repeat(400)) : randomBytes(6000)
  await writeFile(path, body)
  if (!isText(name)) return
  await writeFile(`${path}.br`, brotliCompressSync(body))
  await writeFile(`${path}.gz`, gzipSync(body, { level: 9 }))
}

async function overTls(name: string, codings?: string): Promise<RawResponse> {
  return rawRequest(ports[1], requestOf(name, codings), dialTls)
}

async function overHttp2(name: string, codings?: string): Promise<RawResponse> {
  return http2Request(ports[2], requestOf(name, codings))
}

function requestOf(name: string, codings?: string): { target: string; fields: Record<string, string> } {
  return {
    target: `/static/${name}`,
    fields: codings === undefined ? {} : { 'accept-encoding': codings },
  }
}

interface Agreed {
  readonly version: string | null
  readonly cipher: string
  readonly protocol: string | false | null
}

/** Returns the result of a handshake, or `undefined` if the server rejected it. */
async function handshake(port: number, options: ConnectionOptions): Promise<Agreed | undefined> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options })
  return once(socket, 'secureConnect').then(
    () => {
      const [version, cipher] = [socket.getProtocol(), socket.getCipher().name]
      socket.destroy()
      return { version, cipher, protocol: socket.alpnProtocol }
    },
    () => undefined,
  )
}
