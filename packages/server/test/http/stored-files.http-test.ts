import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmod,
  link,
  mkdir,
  open,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { arrayBuffersInUse } from '../support/array-buffers-in-use.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { openConnection } from '../support/open-connection.ts'
import { listOpenFilesIn } from '../support/list-open-files-in.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { requestTwice } from '../support/request-twice.ts'
import { waitForEngine } from '../support/native/wait-for-engine.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const small = compressibleText(5000)
const large = Buffer.alloc(16 * 1024 * 1024, 'abcdefg')

/** A time in seconds. Some builds give all their files the same time. */
const constantTime = 1e9

interface Fixture {
  readonly server: StartedServer
  readonly directory: string
  /** The path of the streamed file. */
  readonly file: string
  readonly problems: string[]
}

/**
 * Starts a server that keeps `/small.js` in memory and streams `/large.bin`. It opens the file by path unless
 * it may keep files open.
 */
async function startFixture(mostOpenFiles = 0, isListed = true): Promise<Fixture> {
  const listed = isListed ? { 'large.bin': large } : {}
  const directory = await buildFixture({ 'index.html': 'page', 'small.js': small, ...listed })
  if (!isListed) await writeFile(join(directory, 'large.bin'), large)
  await utimes(join(directory, 'large.bin'), constantTime, constantTime)
  const problems: string[] = []
  const server = await startServer(directory, {
    site: { largestBody: 1024 * 1024, openFiles: mostOpenFiles },
    handler: { onProblem: ({ message }) => problems.push(message), fileSystemFallback: !isListed },
  })
  // The native engine streams only files that it may keep open.
  if (mostOpenFiles > 0) await waitForEngine(server.port, { target: '/large.bin' })
  return { server, directory, file: join(directory, 'large.bin'), problems }
}

describe('a file that is opened by path and differs from the start', () => {
  const changes: readonly (readonly [string, number, (file: string) => Promise<unknown>])[] = [
    ['vanished', 404, (file) => rm(file)],
    ['vanished with its folder', 404, (file) => rm(join(file, '..'), { recursive: true })],
    ['was truncated', 500, (file) => truncate(file, 1000)],
    ['was emptied', 500, (file) => truncate(file, 0)],
    ['has grown', 500, (file) => writeFile(file, 'more', { flag: 'a' })],
    [
      'was rewritten with other bytes of the same size',
      500,
      (file) => writeFile(file, Buffer.alloc(large.length, 'x')),
    ],
    ['was replaced by another of the same size', 500, replaceKeepingTime],
    [
      'was rewritten with other bytes of the same size, and given its previous time',
      500,
      (file) => rewriteKeepingTime(file),
    ],
    ['became a folder', 500, (file) => rm(file).then(() => mkdir(file))],
  ]

  test.each(changes)(
    'and %s gets %d without a broken body, is reported once, and files in memory still work',
    async (_what, status, change) => {
      const { server, file, problems } = await startFixture()
      const before = await rawRequest(server.port, { target: '/large.bin' })
      expect(before.body.equals(large)).toBe(true)
      await change(file)
      const connection = await openConnection(server.port)
      for (let index = 0; index < 3; index += 1) {
        connection.send(formatRequest({ target: '/large.bin', fields: { Range: 'bytes=5-10' } }))
        const response = await connection.receive()
        expect([response.status, response.field('Cache-Control')]).toEqual([status, 'no-store'])
        for (const name of ['ETag', 'Last-Modified', 'Content-Range', 'Accept-Ranges']) {
          expect([name, response.field(name)]).toEqual([name, undefined])
        }
      }
      connection.send(formatRequest({ target: '/small.js' }))
      const held = await connection.receive()
      expect([held.status, held.body.toString()]).toEqual([200, small])
      expect(problems).toHaveLength(1)
      expect(problems[0]).toContain(file)
      connection.socket.destroy()
    },
  )

  test.skipIf(process.platform === 'win32').each<readonly [string, (file: string) => Promise<unknown>]>([
    ['a FIFO, without waiting for a writer', async (file) => execFileSync('mkfifo', [file])],
    ['a link to itself, which cannot be opened', (file) => symlink(file, file)],
  ])('and became %s, gets a 500 without a broken body', async (_what, change) => {
    const { server, file, problems } = await startFixture()
    await rm(file)
    await change(file)
    const response = await rawRequest(server.port, { target: '/large.bin' })
    expect([response.status, problems]).toEqual([500, [expect.stringContaining(file)]])
  })

  test('may be only a variant', async () => {
    const directory = await buildFixture({ 'index.html': 'page', 'app.js': small })
    const problems: string[] = []
    const { port } = await startServer(directory, {
      site: { memoryBudget: 0, openFiles: 0 },
      handler: { onProblem: ({ message }) => problems.push(message) },
    })
    await rm(join(directory, 'app.js.br'))
    const br = await rawRequest(port, { target: '/app.js', fields: { 'Accept-Encoding': 'br' } })
    const gzip = await requestTwice(port, { target: '/app.js', fields: { 'Accept-Encoding': 'gzip' } })
    expect([br.status, gzip.status, problems.length]).toEqual([404, 200, 1])
  })

  test('gets its earlier description by HEAD, which opens no file', async () => {
    const { server, file, problems } = await startFixture()
    await rm(file)
    const response = await requestTwice(server.port, { method: 'HEAD', target: '/large.bin' })
    expect([response.status, response.field('Content-Length')]).toEqual([200, String(large.length)])
    expect(problems).toEqual([])
  })

  test('is reported on standard error by default', async () => {
    const directory = await buildFixture({ 'index.html': 'page', 'app.js': small })
    const { port } = await startServer(directory, { site: { memoryBudget: 0, openFiles: 0 } })
    await rm(join(directory, 'app.js'))
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    await rawRequest(port, { target: '/app.js' })
    await rawRequest(port, { target: '/app.js' })
    const messages = write.mock.calls.map(([message]) => String(message))
    write.mockRestore()
    expect(messages).toEqual([expect.stringContaining(join(directory, 'app.js'))])
  })

  test('affects no file in memory, even if the whole folder is gone', async () => {
    const { server, directory } = await startFixture()
    await rm(directory, { recursive: true })
    for (const coding of ['identity', 'zstd', 'br', 'gzip']) {
      const response = await requestTwice(server.port, {
        target: '/small.js',
        fields: { 'Accept-Encoding': coding },
      })
      expect(response.status).toBe(200)
    }
  })
})

/** Replaces a file by another inode with the same size and times, as a deploy with constant times does. */
async function replaceKeepingTime(file: string): Promise<void> {
  await writeFile(`${file}.new`, Buffer.alloc(large.length, 'x'))
  await utimes(`${file}.new`, constantTime, constantTime)
  await rename(`${file}.new`, file)
}

/** Rewrites a file like `rsync --inplace` does for a build with constant times. */
async function rewriteKeepingTime(file: string, bytes = Buffer.alloc(large.length, 'x')): Promise<void> {
  await writeFile(file, bytes, { flag: 'r+' })
  await utimes(file, constantTime, constantTime)
}

/** Programs that overwrite a file in place and keep the time of the copied file. */
const copyCommands = [
  ['cp', '-a'],
  ['rsync', '-a', '--inplace', '--ignore-times'],
] as const

/** Copies another file of the same size and time over a file. */
async function copyOver(file: string, [command, ...flags]: readonly [string, ...string[]]): Promise<void> {
  const other = join(await temporaryDirectory(), 'other')
  await writeFile(other, Buffer.alloc(large.length, 'x'))
  await utimes(other, constantTime, constantTime)
  const { ino } = await stat(file)
  execFileSync(command, [...flags, other, file])
  const now = await stat(file)
  expect([now.ino, now.size, now.mtimeMs]).toEqual([ino, large.length, 1000 * constantTime])
}

describe('a file that is kept open', () => {
  test.each<readonly [string, (file: string) => Promise<unknown>]>([
    ['was removed', (file) => rm(file)],
    ['was removed with its folder', (file) => rm(join(file, '..'), { recursive: true })],
    ['was replaced by another', replaceKeepingTime],
    ['became a folder', (file) => rm(file).then(() => mkdir(file))],
    [
      'was given another time, as by `rsync --checksum`,',
      (file) => utimes(file, constantTime, constantTime + 1),
    ],
    ['was given other rights', (file) => chmod(file, 0o600)],
    ['was linked to by a backup', (file) => link(file, `${file}.backup`)],
  ])('and %s is still served, whole and in ranges, without a warning', async (_what, change) => {
    const { server, file, problems } = await startFixture(1)
    await change(file)
    for (let index = 0; index < 3; index += 1) {
      const whole = await rawRequest(server.port, { target: '/large.bin' })
      expect([whole.status, whole.body.equals(large)]).toEqual([200, true])
    }
    const part = await rawRequest(server.port, { target: '/large.bin', fields: { Range: 'bytes=5-10' } })
    expect([part.status, part.body.toString()]).toEqual([206, large.toString('latin1', 5, 11)])
    expect(problems).toEqual([])
  })

  test.each<readonly [string, (file: string) => Promise<unknown>]>([
    ['was truncated', (file) => truncate(file, 1000)],
    ['has grown', (file) => writeFile(file, 'more', { flag: 'a' })],
    [
      'was rewritten in place with other bytes of the same size',
      (file) => writeFile(file, Buffer.alloc(large.length, 'x')),
    ],
    [
      'was rewritten in place with other bytes of the same size, and given its previous time',
      (file) => rewriteKeepingTime(file),
    ],
  ])('and %s gets a 500 without a broken body, and is reported once', async (_what, change) => {
    const { server, file, problems } = await startFixture(1)
    await change(file)
    for (let index = 0; index < 3; index += 1) {
      const response = await rawRequest(server.port, { target: '/large.bin' })
      expect([response.status, response.field('ETag')]).toEqual([500, undefined])
    }
    expect(problems).toEqual([expect.stringContaining(file)])
  })

  test.skipIf(process.platform !== 'linux')(
    'is open once for all its readers, until the server closes',
    async () => {
      const { server, file } = await startFixture(1)
      const socket = connect({ port: server.port, host: '127.0.0.1' })
      socket.pause()
      socket.write(formatRequest({ target: '/large.bin' }).repeat(20))
      await Promise.all(
        Array.from({ length: 10 }, async () => {
          const { status } = await rawRequest(server.port, { target: '/large.bin' })
          expect(status).toBe(200)
        }),
      )
      // The native engine also opens it.
      expect(listOpenFilesIn(file).length).toBeLessThanOrEqual(2)
      socket.destroy()
      await server.close()
      await vi.waitFor(() => expect(listOpenFilesIn(file)).toEqual([]), { timeout: 10_000 })
    },
  )
})

describe.each([
  ['opened by its path', 0, true],
  ['kept open', 1, true],
  ['unknown to the build', 0, false],
])('a file, %s, that changes while it is sent', (_how, kept, isListed) => {
  test('is sent whole if its name is removed: the open file stays readable', async () => {
    const { server, file } = await startFixture(kept, isListed)
    const { readRest } = await startReading(server.port)
    await rm(file)
    expect(await readRest()).toBe(large.length)
  })

  test.runIf(isListed).each<readonly [string, (file: string) => Promise<unknown>]>([
    ['is given other rights', (file) => chmod(file, 0o600)],
    ['is linked to by a backup', (file) => link(file, `${file}.backup`)],
    ['is rewritten with the same bytes and time', (file) => rewriteKeepingTime(file, large)],
  ])('is sent whole if it %s, because its bytes have the expected digest', async (_what, change) => {
    const { server, file } = await startFixture(kept, isListed)
    const readers = await Promise.all([startReading(server.port), startReading(server.port)])
    await change(file)
    for (const { readRest } of readers) expect(await readRest()).toBe(large.length)
  })

  test.runIf(isListed)(
    'is never sent whole if it is rewritten in place with the same size and time, and then removed',
    async () => {
      const { server, file } = await startFixture(kept, isListed)
      const { readRest } = await startReading(server.port)
      await rewriteKeepingTime(file)
      await rm(file)
      expect(await readRest()).toBeLessThan(large.length)
    },
  )

  test.each<readonly [string, (file: string) => Promise<unknown>]>([
    ['is truncated', (file) => truncate(file, 1000)],
    ['is rewritten in place with the same size', (file) => writeFile(file, Buffer.alloc(large.length, 'x'))],
    ['is rewritten in place with the same size and time', (file) => rewriteKeepingTime(file)],
    ...copyCommands
      .filter(([command]) => spawnSync(command, ['--version']).status === 0)
      .map(
        (command) =>
          [`is overwritten by \`${command.join(' ')}\``, (file: string) => copyOver(file, command)] as const,
      ),
    ['has a byte changed', changeLastByte],
  ])(
    'is never sent whole if it %s: the server destroys the socket and keeps running',
    async (_what, change) => {
      const { server, file, problems } = await startFixture(kept, isListed)
      const { readRest } = await startReading(server.port)
      await change(file)
      expect(await readRest()).toBeLessThan(large.length)
      const response = await rawRequest(server.port, { target: '/' })
      expect(response.status).toBe(200)
      await vi.waitFor(() => expect(problems).toEqual([expect.stringContaining(file)]))
    },
  )
})

/** Starts to read a body and stops. `readRest` reads the rest and returns the number of bytes. */
async function startReading(port: number): Promise<{ readRest: () => Promise<number> }> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {
    // A reset is expected: the body is not whole.
  })
  socket.write(formatRequest({ target: '/large.bin' }))
  await once(socket, 'readable')
  const head: unknown = socket.read()
  expect(String(head)).toMatch(/^HTTP\/1\.1 200 /)
  const readRest = async (): Promise<number> => {
    let received = Buffer.isBuffer(head) ? head.length - String(head).indexOf('\r\n\r\n') - 4 : 0
    socket.on('data', (chunk) => {
      received += chunk.length
      if (received >= large.length) socket.destroy()
    })
    await once(socket, 'close')
    return received
  }
  return { readRest }
}

async function changeLastByte(file: string): Promise<void> {
  const handle = await open(file, 'r+')
  await handle.write('x', large.length - 1)
  await handle.close()
}

describe('a reader of a streamed file', () => {
  test.skipIf(process.platform !== 'linux')('that leaves in mid-body leaves no file open', async () => {
    const { server, file } = await startFixture()
    for (let index = 0; index < 30; index += 1) {
      const socket = connect({ port: server.port, host: '127.0.0.1' })
      socket.write(formatRequest({ target: '/large.bin' }))
      await once(socket, 'data')
      if (index % 2 === 0) socket.destroy()
      else socket.resetAndDestroy()
    }
    await vi.waitFor(() => expect(listOpenFilesIn(file)).toEqual([]), { timeout: 10_000 })
  })

  test.skipIf(process.platform !== 'linux')(
    'that leaves before the response leaves no file open',
    async () => {
      const { server, file } = await startFixture()
      for (let index = 0; index < 30; index += 1) {
        const socket = connect({ port: server.port, host: '127.0.0.1' })
        await once(socket, 'connect')
        socket.write(formatRequest({ target: '/large.bin' }).repeat(3), () => socket.resetAndDestroy())
        await once(socket, 'close')
      }
      const response = await rawRequest(server.port, { target: '/large.bin' })
      expect(response.status).toBe(200)
      await vi.waitFor(() => expect(listOpenFilesIn(file)).toEqual([]), { timeout: 10_000 })
    },
  )

  test.skipIf(process.platform !== 'linux')('has one file open for all pipelined requests', async () => {
    const { server, file } = await startFixture()
    const socket = connect({ port: server.port, host: '127.0.0.1' })
    socket.pause()
    socket.write(formatRequest({ target: '/large.bin' }).repeat(200))
    await vi.waitFor(() => expect(listOpenFilesIn(file)).toHaveLength(1), { timeout: 10_000 })
    const response = await rawRequest(server.port, { target: '/large.bin' })
    expect(response.status).toBe(200)
    expect(listOpenFilesIn(file)).toHaveLength(1)
    socket.destroy()
    await vi.waitFor(() => expect(listOpenFilesIn(file)).toEqual([]), { timeout: 10_000 })
  })

  test('that stalls uses a limited amount of memory', async () => {
    const { server } = await startFixture()
    const readers = 50
    const before = await arrayBuffersInUse()
    const sockets = Array.from({ length: readers }, () => connect({ port: server.port, host: '127.0.0.1' }))
    await Promise.all(
      sockets.map(async (socket) => {
        socket.write(formatRequest({ target: '/large.bin' }))
        // The first chunk shows that the response has started. The client reads no more.
        await once(socket, 'data')
        socket.pause()
      }),
    )
    await rawRequest(server.port, { target: '/large.bin' })
    const grown = (await arrayBuffersInUse()) - before
    for (const socket of sockets) socket.destroy()
    // Both ends of each socket are in this process. Each keeps one or two chunks of 64 KiB.
    expect(grown / readers).toBeLessThan(512 * 1024)
  })
})
