import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { copyFile, mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { connect as connectHttp2 } from 'node:http2'
import { get } from 'node:https'
import { connect as connectTcp } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

// What HttpArena's scripts/validate.sh asks of an entry with `static-tls` and `static-h2`, at commit 01193b65.
const entry = fileURLToPath(new URL('../../../../deploy/httparena/', import.meta.url))
const bin = fileURLToPath(new URL('../../bin/serve-dist.js', import.meta.url))

const names = [
  ...['reset', 'layout', 'theme', 'components', 'utilities'].map((name) => `${name}.css`),
  ...['analytics', 'helpers', 'app', 'vendor', 'router'].map((name) => `${name}.js`),
  ...['header.html', 'footer.html', 'regular.woff2', 'bold.woff2', 'logo.svg', 'icon-sprite.svg'],
  ...['hero.webp', 'thumb1.webp', 'thumb2.webp', 'manifest.json'],
]
const accept = 'br;q=1, gzip;q=0.8'
/** In seconds, as it has it for infrastructure. */
const staleWindow = 30

interface Answer {
  readonly status: number
  readonly type: string | undefined
  readonly coding: string | undefined
  readonly body: Buffer
}

let data: string
let ports: readonly [plain: number, tls: number, h2: number]
let stop: () => Promise<number | null>

beforeAll(async () => {
  data = await temporaryDirectory()
  ports = [await freePort(), await freePort(), await freePort()]
  await mkdir(join(data, 'static'))
  for (const name of names) await writeWithVariants(name)
  await mkdir(join(data, 'bin'))
  await symlink(bin, join(data, 'bin/serve-dist'))
  const { cert, key } = await writeCertificate()
  await copyFile(cert, join(data, 'server.crt'))
  await copyFile(key, join(data, 'server.key'))
  const dockerfile = await readFile(join(entry, 'Dockerfile'), 'utf8')
  const [command, ...args]: string[] = JSON.parse(/^CMD (.*)$/m.exec(dockerfile)?.[1] ?? '[]')
  const child = spawn(command ?? '', args, {
    cwd: entry,
    env: {
      ...process.env,
      PATH: [join(data, 'bin'), process.env['PATH']].join(delimiter),
      ...{ DATA: data, CERTS: data, PORTS: ports.join() },
    },
    stdio: 'ignore',
  })
  stop = async () => {
    if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit')
    return child.exitCode
  }
  await vi.waitUntil(async () => (await Promise.all(ports.map(isOpen))).every(Boolean), 30_000)
}, 40_000)

afterAll(() => stop())

describe('deploy/httparena', () => {
  test('names profiles that there are, and a type that may hold files in memory', async () => {
    const meta: unknown = JSON.parse(await readFile(join(entry, 'meta.json'), 'utf8'))
    expect(meta).toMatchObject({ type: 'infrastructure', tests: ['static-tls', 'static-h2'], enabled: true })
    expect(await readFile(join(entry, 'Dockerfile'), 'utf8')).toMatch(/^FROM \S+:\d\S*$/m)
  })

  test.each([
    ['reset.css', 'text/css'],
    ['app.js', 'text/javascript'],
    ['manifest.json', 'application/json'],
  ])('says what %s is, over HTTP/1.1 and HTTP/2', async (name, type) => {
    for (const answer of [await askTls(name), await askHttp2(name)]) {
      expect(answer.status).toBe(200)
      expect(answer.type?.split(';')[0]).toBe(type)
    }
  })

  test.each(names)('serves %s whole as it is, and in brotli where it was compressed', async (name) => {
    const original = await readFile(join(data, 'static', name))
    expect((await askTls(name)).body.equals(original)).toBe(true)
    for (const answer of [await askTls(name, accept), await askHttp2(name, accept)]) {
      expect(answer.coding).toBe(isText(name) ? 'br' : undefined)
      const decoded = answer.coding === 'br' ? brotliDecompressSync(answer.body) : answer.body
      expect(decoded.equals(original)).toBe(true)
    }
    const { coding, body } = await askTls(name, 'gzip')
    expect((coding === 'gzip' ? gunzipSync(body) : body).equals(original)).toBe(true)
  })

  test('has no file that is not there', async () => {
    expect((await askTls('nonexistent.txt')).status).toBe(404)
    expect((await askHttp2('nonexistent.txt')).status).toBe(404)
  })

  test.each([
    ['hero.webp', 'identity'],
    ['app.js', accept],
  ])(
    'serves %s anew when it is replaced by as many bytes, and the original when that is back',
    async (name, codings) => {
      const before = (await askTls(name, codings)).body
      const replaced = [name, ...(isText(name) ? [`${name}.br`, `${name}.gz`] : [])].map((file) =>
        join(data, 'static', file),
      )
      for (const path of replaced) {
        const size = (await readFile(path)).length
        await writeFile(`${data}/replacement`, randomBytes(size))
        await copyFile(path, join(data, `kept-${path.split('/').at(-1)}`))
        await rename(`${data}/replacement`, path)
      }
      const isServed = async (): Promise<boolean> => (await askTls(name, codings)).body.equals(before)
      await vi.waitUntil(async () => !(await isServed()), staleWindow * 1000)
      for (const path of replaced) await rename(join(data, `kept-${path.split('/').at(-1)}`), path)
      await vi.waitUntil(isServed, staleWindow * 1000)
    },
    70_000,
  )

  test('reassembles a head that comes in parts', async () => {
    const head = 'GET /static/reset.css HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
    for (const cuts of [[11], [32, 49], [60]]) {
      const socket = connectTcp({ port: ports[0], host: '127.0.0.1', noDelay: true })
      const parts: Buffer[] = []
      socket.on('data', (part) => parts.push(part))
      const closed = once(socket, 'close')
      for (const [index, cut] of [0, ...cuts].entries()) {
        socket.write(head.slice(cut, cuts[index] ?? head.length))
        await delay(30)
      }
      await closed
      const original = await readFile(join(data, 'static/reset.css'))
      expect(Buffer.concat(parts).subarray(-original.length).equals(original)).toBe(true)
    }
  })

  test.each([
    ['static-tls', 1, 'http/1.1'],
    ['static-h2', 2, 'h2'],
  ] as const)(
    'speaks TLS 1.3 with the certificate of the folder, for %s',
    async (_profile, index, protocol) => {
      const socket = await handshake(ports[index], { ALPNProtocols: [protocol] })
      expect(socket?.getProtocol()).toBe('TLSv1.3')
      expect(socket?.getCipher().name).toMatch(/^TLS_(?:AES_(?:128|256)_GCM|CHACHA20_POLY1305)_SHA\d+$/)
      expect(socket?.alpnProtocol).toBe(protocol)
      const cert = await readFile(join(data, 'server.crt'), 'latin1')
      const served = socket?.getPeerCertificate().raw.toString('base64') ?? 'none'
      expect(cert.replaceAll('\n', '')).toContain(served)
      socket?.destroy()
    },
  )

  test.each(['TLSv1', 'TLSv1.1'] as const)('refuses %s', async (version) => {
    const old = { minVersion: version, maxVersion: version, ciphers: 'ALL:@SECLEVEL=0' } as const
    expect(await handshake(ports[1], old)).toBeUndefined()
    expect(await handshake(ports[1], { ...old, minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' })).toBeDefined()
  })

  test('refuses ciphers that do not encrypt or do not authenticate', async () => {
    for (const ciphers of ['NULL', 'aNULL'].map((family) => `${family}:@SECLEVEL=0`)) {
      expect(await handshake(ports[1], { maxVersion: 'TLSv1.2', ciphers })).toBeUndefined()
    }
  })

  test('ends when it is told to', async () => {
    expect(await stop()).toBe(0)
  }, 20_000)
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

async function isOpen(port: number): Promise<boolean> {
  const socket = connectTcp(port, '127.0.0.1')
  const isConnected = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return isConnected
}

async function askTls(name: string, codings?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = codings === undefined ? {} : { 'Accept-Encoding': codings }
    const options = { port: ports[1], path: `/static/${name}`, headers, agent: false } as const
    const request = get({ host: '127.0.0.1', rejectUnauthorized: false, ...options }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          type: response.headers['content-type'],
          coding: response.headers['content-encoding'],
          body: Buffer.concat(parts),
        }),
      )
    })
    request.on('error', reject)
  })
}

async function askHttp2(name: string, codings?: string): Promise<Answer> {
  const session = connectHttp2(`https://localhost:${ports[2]}`, { rejectUnauthorized: false })
  const stream = session.request({
    ':path': `/static/${name}`,
    ...(codings !== undefined && { 'accept-encoding': codings }),
  })
  const headers = new Promise<Record<string, unknown>>((resolve) => stream.once('response', resolve))
  const parts: Buffer[] = []
  stream.on('data', (part: Buffer) => parts.push(part))
  await once(stream, 'end')
  session.close()
  const { ':status': status, 'content-type': type, 'content-encoding': coding } = await headers
  return {
    status: Number(status),
    type: type === undefined ? undefined : String(type),
    coding: coding === undefined ? undefined : String(coding),
    body: Buffer.concat(parts),
  }
}

/** The socket of a handshake that was finished, and nothing where it was refused. */
async function handshake(port: number, options: ConnectionOptions): Promise<TLSSocket | undefined> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options })
  return once(socket, 'secureConnect').then(
    () => socket,
    () => undefined,
  )
}
