import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { type ClientHttp2Session, connect } from 'node:http2'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { type Connection, openConnection } from '../support/open-connection.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { type RunningCommand, spawnCommand } from '../support/spawn-command.ts'

/** Enough descriptors for the start and for a few dozen connections. */
const descriptors = 80

let directory: string
beforeAll(async () => {
  directory = await buildFixture({ 'index.html': 'page' })
})

/** Returns the states of a process's threads: `S` sleeps, `R` runs. */
async function readThreadStates(processId: number | undefined): Promise<readonly string[]> {
  const threads = await readdir(`/proc/${processId}/task`)
  // A thread may have ended in the meantime.
  const stats = await Promise.allSettled(
    threads.map((thread) => readFile(`/proc/${processId}/task/${thread}/stat`, 'utf8')),
  )
  return stats.flatMap((stat) =>
    stat.status === 'fulfilled' ? stat.value.replace(/^.*\) /, '').charAt(0) : [],
  )
}

async function statusOf(connection: Connection, target: string): Promise<number> {
  connection.send(formatRequest({ target }))
  return (await connection.receive()).status
}

async function statusOver(session: ClientHttp2Session, path: string): Promise<unknown> {
  const stream = session.request({ ':path': path })
  const [fields] = await once(stream, 'response')
  stream.close()
  return fields[':status']
}

interface Started {
  readonly port: number
  readonly command: RunningCommand
  readonly openDescriptors: () => Promise<number>
}

async function start(...flags: readonly string[]): Promise<Started> {
  const command = spawnCommand([directory, '--port', '0', '--engine', 'native', ...flags], { descriptors })
  const { port } = await command.listening
  // The first response fills the engine's table.
  if (flags.length === 0) await rawRequest(port, {})
  const openDescriptors = async (): Promise<number> => (await readdir(`/proc/${command.child.pid}/fd`)).length
  return { port, command, openDescriptors }
}

/** Opens more connections than the process can accept. The kernel queues the rest. */
async function exhaustDescriptors({ port, openDescriptors }: Started): Promise<readonly Connection[]> {
  const others = await Promise.all(Array.from({ length: 2 * descriptors }, () => openConnection(port)))
  await vi.waitFor(async () => expect(await openDescriptors()).toBeGreaterThanOrEqual(descriptors))
  return others
}

/** Tells whether Node can start with this few descriptors. Version 24 crashes with 20. */
function canNodeStart(few: number): boolean {
  const script = `ulimit -n ${few} && exec "$0" --input-type=module -e "await import('node:fs/promises')"`
  return spawnSync('sh', ['-c', script, process.execPath], { stdio: 'ignore' }).status === 0
}

describe.skipIf(process.platform !== 'linux')('without free descriptors', () => {
  test('the native engine serves open connections, does not spin, and recovers', async () => {
    const started = await start()
    const { port, command, openDescriptors } = started
    const { pid } = command.child
    const before = await openDescriptors()
    const [files, relayed] = [await openConnection(port), await openConnection(port)]
    expect([await statusOf(files, '/'), await statusOf(relayed, '/none.js')]).toEqual([200, 404])

    const others = await exhaustDescriptors(started)
    // The connections share the one remaining relay socket to Node.
    for (const connection of [files, relayed, relayed, files]) {
      expect(await statusOf(connection, '/none.js')).toBe(404)
      expect([await statusOf(files, '/'), await statusOf(relayed, '/')]).toEqual([200, 200])
    }
    // A thread that retried accept() without a pause would never sleep.
    for (let time = 0; time < 10; time += 1)
      await vi.waitUntil(async () => (await readThreadStates(pid)).every((state) => state === 'S'))

    // Any thread may serve them. The connections that it accepted stay open.
    expect(others.filter(({ socket }) => socket.readableEnded || socket.destroyed)).toHaveLength(0)
    for (const { socket } of others) socket.destroy()
    // On a busy machine, the server closes its ends late. Both connections and their sockets to Node stay open.
    await vi.waitUntil(async () => (await openDescriptors()) <= before + 4, 15_000)
    expect((await rawRequest(port, {})).status).toBe(200)
    expect((await rawRequest(port, { target: '/none.js' })).status).toBe(404)
    expect([await statusOf(relayed, '/none.js'), await statusOf(files, '/none.js')]).toEqual([404, 404])
    for (const { socket } of [files, relayed]) socket.destroy()
    await vi.waitFor(async () => expect(await openDescriptors()).toBeLessThanOrEqual(before))
    expect(command.complaints()).not.toContain('502')
    command.child.kill('SIGTERM')
    expect((await command.exited).code).toBe(0)
  })

  test('the native engine answers 502 if it cannot reach Node, and logs why', async () => {
    const started = await start()
    const files = await openConnection(started.port)
    expect(await statusOf(files, '/')).toBe(200)
    const others = await exhaustDescriptors(started)
    expect([await statusOf(files, '/'), await statusOf(files, '/none.js')]).toEqual([200, 502])
    expect(await files.rest()).toHaveLength(0)
    // The log is written independently of the responses.
    await vi.waitFor(() =>
      expect(started.command.complaints()).toMatch(/requests get 502, .*Too many open files/),
    )
    for (const { socket } of others) socket.destroy()
    expect((await rawRequest(started.port, { target: '/none.js' })).status).toBe(404)
  })

  test('the native engine lets HTTP/2 streams wait for descriptors, then answers 502, and logs why', async () => {
    const { cert, key } = await writeCertificate()
    const started = await start('--tls-cert', cert, '--tls-key', key, '--access-log', 'common')
    const { port, command } = started
    const dial = (): ClientHttp2Session => connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    const first = dial()
    expect(await statusOver(first, '/')).toBe(200)
    first.destroy()
    const session = dial()
    expect(await statusOver(session, '/')).toBe(200)
    const others = await exhaustDescriptors(started)
    expect([await statusOver(session, '/'), await statusOver(session, '/none.js')]).toEqual([200, 502])

    const waiting = statusOver(session, '/none.js')
    // The ping's answer shows that the request has arrived.
    await new Promise((resolve) => session.ping(resolve))
    // Other connections wait in the kernel's queue for the freed descriptors.
    for (const { socket } of others.slice(0, 20)) socket.destroy()
    expect(await waiting).toBe(404)
    for (const { socket } of others) socket.destroy()
    session.destroy()
    command.child.kill('SIGTERM')
    const { stdout, stderr } = await command.exited
    expect(stdout).toMatch(/ 502 /)
    expect(stderr).toMatch(/requests get 502, .*Too many open files/)
  })

  test('the native engine reports that it cannot start', async () => {
    const codes: (number | null)[] = []
    // The range starts where only Node works, and ends where everything does.
    const first = Array.from({ length: 20 }, (_each, index) => 20 + index).find(canNodeStart) ?? 40
    for (let few = first; few < first + 20 && codes.at(-1) !== 0; few += 1) {
      const command = spawnCommand([directory, '--port', '0', '--engine', 'native'], { descriptors: few })
      const listening = await command.listening.catch(() => undefined)
      // The process may have no descriptor left for connections. Then the kernel queues them.
      if (listening !== undefined) (await openConnection(listening.port)).socket.destroy()
      command.child.kill('SIGTERM')
      const { code, stderr } = await command.exited
      expect(listening !== undefined || /EMFILE|too many open files/.test(stderr)).toBe(true)
      codes.push(code)
    }
    expect(codes.at(-1)).toBe(0)
    expect(new Set(codes)).toEqual(new Set([0, 1]))
  })
})
