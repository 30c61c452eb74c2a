import { type EngineBinding, type EngineListener, type EngineOptions, loadEngine } from '@serve-dist/engine'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { mkdir, readFile, rename, statfs, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createHandler } from '../../src/hosts/handler.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { createEngineTransport } from '../../src/native/create-engine-transport.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { replaceBuildIn } from '../support/replace-build-in.ts'
import { createMemoryGroup } from '../support/create-memory-group.ts'
import { type Connection, openConnection } from '../support/open-connection.ts'
import type { RawResponse } from '../support/parse-response.ts'
import { formatRequest, type RawRequest, rawRequest } from '../support/raw-request.ts'
import { startSoakCommand } from '../support/soak/soak-command.ts'
import { incompressibleBytes } from '../support/soak/soak-sites.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { startServer, type StartedServer } from '../support/start-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const megabyte = 1024 * 1024
const bodies = {
  '/large.bin': incompressibleBytes(megabyte + 1),
  '/middle.bin': incompressibleBytes(40_000),
  '/small.bin': incompressibleBytes(20_000),
}
const targets = Object.entries(bodies)
const files = {
  'index.html': 'page',
  ...Object.fromEntries(targets.map(([target, body]) => [target.slice(1), body])),
}
/** The size of the copies of the two large bodies. Each copy begins at a page boundary. */
const copiedBytes = 4096 * (257 + 10)

/** Lists the deleted files of one size that this process has open. They are copies of bodies. */
function listBodyCopies(size: number): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const path = `/proc/self/fd/${descriptor}`
      const name = readlinkSync(path)
      const { blocks } = statSync(path)
      return name.endsWith(' (deleted)') && 512 * blocks === size ? [name] : []
    } catch {
      // The descriptor was closed after it was listed.
      return []
    }
  })
}

/** Finds all bytes that the properties of a value lead to. */
function findBytes(value: unknown, seen = new Set<unknown>()): readonly unknown[] {
  if (typeof value !== 'object' || value === null || seen.has(value)) return []
  seen.add(value)
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return [value]
  const children =
    value instanceof Map ? [...value].flat() : Reflect.ownKeys(value).map((key) => Reflect.get(value, key))
  return children.flatMap((child: unknown) => findBytes(child, seen))
}

/** Starts a server that has copied its large bodies and has answered one request. */
async function start(directory: string): Promise<StartedServer> {
  expect(listBodyCopies(copiedBytes)).toEqual([])
  const server = await startServer(directory, { engine: 'native' })
  await rawRequest(server.port)
  await expectOneCopy()
  onTestFinished(async () => server.close())
  return server
}

async function expectOneCopy(): Promise<void> {
  await vi.waitFor(() => expect(listBodyCopies(copiedBytes)).toHaveLength(1), { timeout: 10_000 })
}

async function ask(connection: Connection, request: RawRequest): Promise<RawResponse> {
  connection.send(formatRequest(request))
  return await connection.receive(request.method)
}

/**
 * Returns the paths with a wrong body. The first request of each reaches Node, the second only the engine.
 */
async function findWrongBodies(port: number): Promise<string[]> {
  const connection = await openConnection(port)
  const wrong: string[] = []
  for (const [target, body] of [...targets, ...targets])
    if (!isWhole(await ask(connection, { target }), body)) wrong.push(target)
  connection.socket.destroy()
  return wrong
}

/** Starts a server that may copy its bodies only to these folders. Returns its port. */
async function startCopyingTo(bodyFolders: readonly string[]): Promise<number> {
  const { Engine } = expectEngine()
  class CopyingEngine extends Engine {
    constructor(options: EngineOptions, listener: EngineListener) {
      super({ ...options, bodyFolders }, listener)
    }
  }
  const site = await loadSite(directory)
  const native = { binding: { Engine: CopyingEngine }, threads: 1 }
  const transport = createEngineTransport(createHandler(site), { takesUploads: false }, native)
  onTestFinished(async () => transport.drain(0))
  transport.follower?.swap(site)
  return Number(new URL(await transport.listen({ host: '127.0.0.1', port: 0 })).port)
}

/** Mounts a small file system until the test ends. Returns `undefined` if the process must not mount. */
async function mountDisk(): Promise<string | undefined> {
  const folder = await temporaryDirectory()
  const [image, place] = [join(folder, 'image'), join(folder, 'disk')]
  await writeFile(image, Buffer.alloc(16 * megabyte))
  await mkdir(place)
  try {
    execFileSync('mkfs.ext4', ['-q', '-b', '4096', image], { stdio: 'ignore' })
    execFileSync('mount', ['-o', 'loop', image, place], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  // Open descriptors on it are closed by then.
  onTestFinished(() => void execFileSync('umount', ['--lazy', place]))
  return place
}

function expectEngine(): EngineBinding {
  const found = loadEngine()
  if (typeof found === 'string') throw new Error(found)
  return found
}

function isWhole({ status, field, body: received }: RawResponse, body: Buffer): boolean {
  return status === 200 && field('Content-Length') === String(body.length) && received.equals(body)
}

const { TMPDIR } = process.env
let directory: string
beforeEach(async () => {
  directory = await buildFixture(files)
})
afterEach(() => {
  if (TMPDIR === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = TMPDIR
})

describe.skipIf(process.platform !== 'linux' || typeof loadEngine() === 'string')('bodies', () => {
  test('are not reachable from the running server', async () => {
    const folder = await buildFixture(files)
    expect(findBytes(await loadSite(folder))).not.toEqual([])
    const server = await startServer(folder, { engine: 'native' })
    expect(findBytes(server)).toEqual([])
    await server.close()
  })

  test('have the same bytes on a reused connection, in sequence and concurrently', async () => {
    const { port } = await start(directory)
    expect(await findWrongBodies(port)).toEqual([])
    const connection = await openConnection(port)
    const many = Array.from({ length: 10 }, () => targets).flat()
    connection.send(many.map(([target]) => formatRequest({ target })).join(''))
    for (const [, body] of many) expect(isWhole(await connection.receive(), body)).toBe(true)
    connection.socket.destroy()
  })

  test('are not sent for HEAD and 304, and the connection stays usable', async () => {
    const { port } = await start(directory)
    const connection = await openConnection(port)
    for (const [target, body] of targets) {
      const head = await ask(connection, { method: 'HEAD', target })
      expect([head.status, head.field('Content-Length')]).toEqual([200, String(body.length)])
      const tag = head.field('ETag') ?? ''
      expect((await ask(connection, { target, fields: { 'If-None-Match': tag } })).status).toBe(304)
      expect(isWhole(await ask(connection, { target }), body)).toBe(true)
    }
    connection.socket.destroy()
  })

  test('of the build that a response started with are sent to the end, then released', async () => {
    const server = await start(directory)
    const connection = await openConnection(server.port)
    const count = 30
    connection.socket.pause()
    connection.send(formatRequest({ target: '/large.bin' }).repeat(count))
    await vi.waitFor(() => expect(connection.socket.bytesWritten).toBeGreaterThan(0))

    const next = { ...files, 'large.bin': Buffer.alloc(megabyte + 1, 'next') }
    await replaceBuildIn(directory, next)
    expect(await server.reload()).toMatchObject({ status: 'swapped' })
    connection.socket.resume()
    const received: RawResponse[] = []
    while (received.length < count) received.push(await connection.receive())
    const swapped = received.findIndex(({ body }) => body.equals(next['large.bin']))
    expect(swapped).toBeGreaterThan(0)
    for (const [at, response] of received.entries())
      expect(isWhole(response, at < swapped ? bodies['/large.bin'] : next['large.bin'])).toBe(true)
    connection.socket.destroy()
    await expectOneCopy()
  })

  test('cost nothing after clients leave in mid-body, and after many swaps', async () => {
    const server = await start(directory)
    for (let swap = 0; swap < 20; swap += 1) {
      const socket = connect({ port: server.port, host: '127.0.0.1' })
      socket.write(formatRequest({ target: '/large.bin' }).repeat(20))
      await new Promise((resolve) => {
        socket.once('data', resolve)
      })
      await replaceBuildIn(directory, { ...files, 'index.html': `page ${swap}` })
      expect(await server.reload()).toMatchObject({ status: 'swapped' })
      socket.destroy()
    }
    expect(await findWrongBodies(server.port)).toEqual([])
    await expectOneCopy()
  })

  test.each(['/nowhere', '/proc', '/dev/shm'])(
    'are sent from memory if %s allows no copy',
    async (folder) => {
      process.env['TMPDIR'] = folder
      const server = await startServer(directory, { engine: 'native' })
      expect(await findWrongBodies(server.port)).toEqual([])
      await server.close()
    },
  )

  test('are sent from memory if no folder allows a copy', async () => {
    expect(await findWrongBodies(await startCopyingTo([]))).toEqual([])
    expect(listBodyCopies(copiedBytes)).toEqual([])
  })

  test('are copied to a disk with enough space, and sent from memory if it is nearly full', async () => {
    const disk = await mountDisk()
    if (disk === undefined) {
      console.log('no disks can be mounted here: left out')
      return
    }
    await startCopyingTo([disk])
    await expectOneCopy()
    const { bavail, bsize } = await statfs(disk)
    await writeFile(join(disk, 'other'), Buffer.alloc(bavail * bsize - megabyte))
    expect(await findWrongBodies(await startCopyingTo([disk]))).toEqual([])
    expect(listBodyCopies(copiedBytes)).toHaveLength(1)
  })

  test('that need twice the memory limit are served', async () => {
    const count = 30
    const names = Array.from({ length: count }, (_unused, index) => `${index}.bin`)
    const build = await buildFixture(
      Object.fromEntries(names.map((name) => [name, randomBytes(10 * megabyte)])),
    )
    const group = await createMemoryGroup((count / 2) * 10 * megabyte)
    if (group === undefined) {
      console.log('no memory can be limited here: left out')
      return
    }
    const command = spawnCommand([build, '--engine', 'native', '--port', '0'], { group: group.processes })
    const { port } = await command.listening
    for (const target of [...names, ...names].map((name) => `/${name}`)) {
      const response = await rawRequest(port, { target })
      expect([target, isWhole(response, await readFile(join(build, target)))]).toEqual([target, true])
    }
    command.child.kill('SIGTERM')
    expect([(await command.exited).code, await group.killed()]).toEqual([0, 0])
  }, 60_000)

  test.each([
    ['from memory', []],
    ['streamed', ['--memory-budget', '100k']],
  ] as const)('use no memory for 1,000 stalled readers: %s', async (_how, flags) => {
    const command = await startSoakCommand([directory, '--engine', 'native', ...flags])
    const { port } = command
    expect(await findWrongBodies(port)).toEqual([])
    const before = await command.measure()
    const readers = Array.from({ length: 1000 }, () => connect({ port, host: '127.0.0.1' }))
    for (const reader of readers) {
      reader.on('error', () => {
        // The server is killed while they wait.
      })
      reader.pause()
      reader.write(formatRequest({ target: '/large.bin' }).repeat(8))
    }
    const during = await vi.waitFor(
      async () => {
        const holdings = await command.measure()
        expect(holdings.descriptors).toBeGreaterThanOrEqual(before.descriptors + readers.length)
        return holdings
      },
      { timeout: 30_000, interval: 500 },
    )
    expect(await findWrongBodies(port)).toEqual([])
    const later = await command.measure()
    const cost = Math.max(during.rss, later.rss) - before.rss
    for (const reader of readers) reader.destroy()
    expect(cost).toBeLessThan(20 * megabyte)
    await vi.waitFor(
      async () => expect((await command.measure()).descriptors).toBeLessThanOrEqual(before.descriptors),
      { timeout: 30_000, interval: 500 },
    )
  })
})

/** The number of requests that reached Node in this process. */
let requests = 0
const count = (): void => {
  requests += 1
}

async function byNode(connection: Connection, request: RawRequest): Promise<number> {
  const before = requests
  await ask(connection, request)
  return requests - before
}

/** Serves streamed files, and waits until the engine has opened them. */
async function startStreamed(onProblem?: (problem: Error) => void): Promise<{
  readonly server: StartedServer
  readonly connection: Connection
}> {
  const handler = onProblem === undefined ? {} : { onProblem }
  const server = await startServer(directory, { engine: 'native', handler, site: { largestBody: 1000 } })
  const connection = await openConnection(server.port)
  onTestFinished(() => void connection.socket.destroy())
  await vi.waitFor(async () => expect(await byNode(connection, { target: '/small.bin' })).toBe(0))
  return { server, connection }
}

describe.skipIf(typeof loadEngine() === 'string')('streamed files', () => {
  beforeEach(() => subscribe('http.server.request.start', count))
  afterEach(() => unsubscribe('http.server.request.start', count))

  test('have the same bytes, in sequence and concurrently', async () => {
    const { server, connection } = await startStreamed()
    const before = requests
    expect(await findWrongBodies(server.port)).toEqual([])
    const many = Array.from({ length: 10 }, () => targets).flat()
    connection.send(many.map(([target]) => formatRequest({ target })).join(''))
    for (const [, body] of many) expect(isWhole(await connection.receive(), body)).toBe(true)
    const head = await ask(connection, { method: 'HEAD', target: '/large.bin' })
    expect([head.status, head.field('Content-Length')]).toEqual([200, String(megabyte + 1)])
    const tag = head.field('ETag') ?? ''
    const target = '/large.bin'
    expect((await ask(connection, { target, fields: { 'If-None-Match': tag } })).status).toBe(304)
    expect(requests).toBe(before)
    expect(await byNode(connection, { target, fields: { Range: 'bytes=0-9' } })).toBe(1)
  })

  test('are relayed to Node after they were replaced, deleted or renamed', async () => {
    const { connection } = await startStreamed()
    const file = join(directory, 'large.bin')
    const target = '/large.bin'
    await rename(file, `${file}.old`)
    const moved = requests
    expect(isWhole(await ask(connection, { target }), bodies['/large.bin'])).toBe(true)
    await rename(`${file}.old`, file)
    await writeFile(file, Buffer.alloc(megabyte + 1))
    expect((await ask(connection, { target })).status).toBe(500)
    expect(requests - moved).toBe(2)
    expect(await byNode(connection, { target: '/middle.bin' })).toBe(0)
  })

  test('are cut off if they change during a response, which is reported once', async () => {
    const size = 40 * megabyte
    await replaceBuildIn(directory, { ...files, 'huge.bin': Buffer.alloc(size) })
    const problems: string[] = []
    const { server, connection } = await startStreamed(({ message }) => problems.push(message))
    connection.socket.pause()
    connection.send(formatRequest({ target: '/huge.bin' }))
    await new Promise((resolve) => {
      connection.socket.once('readable', resolve)
    })
    await writeFile(join(directory, 'huge.bin'), Buffer.alloc(size, 'x'))
    connection.socket.resume()
    expect((await connection.rest()).length).toBeLessThan(size)
    await vi.waitFor(() => expect(problems).toHaveLength(1))
    expect(problems[0]).toMatch(/huge\.bin: changed since the server read it\. /)
    expect((await rawRequest(server.port, { target: '/huge.bin' })).status).toBe(500)
    expect(problems).toHaveLength(1)
  })
})
