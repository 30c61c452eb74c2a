import { loadEngine } from '@serve-dist/engine'
import { existsSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { readChildProcessIds } from '../support/read-child-process-ids.ts'
import { dialTls } from '../support/dial-tls.ts'
import { freePort } from '../support/free-port.ts'
import { makeCertificate, writeCertificate } from '../support/make-certificate.ts'
import { type Connection, openConnection } from '../support/open-connection.ts'
import { openListeningSocket } from '../support/open-listening-socket.ts'
import { parseMetrics } from '../support/parse-metrics.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { replaceWorker } from '../support/replace-worker.ts'
import { type RunningCommand, spawnCommand, type SpawnCommandOptions } from '../support/spawn-command.ts'
import { requestWhileStopping, stopCommand } from '../support/stop-command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/**
 * A page that names the process that rendered it. `?busy=FOLDER` blocks the event loop until the folder has a
 * file `go`. `?wait=FOLDER` waits for that file without blocking. A file named after the process shows that
 * it has started.
 */
const application = `import { existsSync, watch, writeFileSync } from 'node:fs'
export default (request, response) => {
  const { searchParams } = new URL(request.url, 'http://x')
  const [busy, wait] = [searchParams.get('busy'), searchParams.get('wait')]
  const end = () => response.end(String(process.pid))
  if (wait !== null) watch(wait, { persistent: false }, (_event, name) => name === 'go' && end())
  for (const folder of [busy, wait]) if (folder !== null) writeFileSync(folder + '/' + process.pid, '')
  if (busy !== null) while (!existsSync(busy + '/go'));
  if (wait === null) end()
}`

let directory: string
let module: string
beforeAll(async () => {
  directory = await buildFixture({ 'index.html': 'page' })
  module = join(await temporaryDirectory(), 'entry.mjs')
  await writeFile(module, application)
})

function start(flags: readonly string[] = [], options: SpawnCommandOptions = {}): RunningCommand {
  const two = ['--workers', '2', '--ssr', module, '--engine', 'native']
  return spawnCommand([directory, '--port', '0', ...two, ...flags], options)
}

/** Sends a request on a new connection, and closes it. */
async function ask(port: number, target: string): Promise<string> {
  return (await rawRequest(port, { target })).body.toString()
}

/** Waits until this many processes render pages of this folder. Returns their IDs. */
async function begun(folder: string, count: number): Promise<readonly string[]> {
  return await vi.waitFor(async () => {
    const names = await readdir(folder)
    expect(names).toHaveLength(count)
    return names
  })
}

async function askOn(connection: Connection, target: string): Promise<string> {
  connection.send(formatRequest({ target }))
  return (await connection.receive()).body.toString()
}

describe.skipIf(process.platform !== 'linux' || typeof loadEngine() === 'string')(
  '--ssr --workers 2, natively',
  () => {
    test('serves files and pages from two processes on one socket, as the start line says', async () => {
      const command = start()
      const { line, port } = await command.listening
      expect(line).toMatch(/ · 2 workers of \d+\.\d MB each · engine: native · http:\/\/127\.0\.0\.1:\d+\/$/)
      const workers = await readChildProcessIds(command.child.pid)
      const pids = new Set<number>()
      await vi.waitUntil(async () => {
        const answers = await Promise.all(Array.from({ length: 8 }, () => ask(port, '/pid')))
        for (const answer of answers) pids.add(Number(answer))
        expect(await ask(port, '/')).toBe('page')
        return pids.size === 2
      })
      expect(pids).toEqual(new Set(workers))
      expect(await stopCommand(command)).toBe(0)
      expect(command.complaints()).toBe('')
    })

    test('loses no connection if a worker dies', async () => {
      const command = start()
      const { port } = await command.listening
      const [victim = 0, survivor = 0] = await readChildProcessIds(command.child.pid)
      await vi.waitUntil(async () => (await ask(port, '/pid')) === String(survivor))
      // While both workers are stopped, connections wait in the kernel's queue.
      for (const worker of [victim, survivor]) process.kill(worker, 'SIGSTOP')
      const connections = await Promise.all(Array.from({ length: 40 }, () => openConnection(port)))
      const targets = connections.map((_, index) => (index % 2 === 0 ? '/' : '/pid'))
      const answers = connections.map(
        async (connection, index) => await askOn(connection, targets[index] ?? ''),
      )
      process.kill(victim, 'SIGKILL')
      process.kill(survivor, 'SIGCONT')
      for (const answer of await Promise.all(answers)) expect(['page', String(survivor)]).toContain(answer)
      for (const { socket } of connections) socket.destroy()
      await vi.waitUntil(async () => (await readChildProcessIds(command.child.pid)).length === 2)
      expect(await stopCommand(command)).toBe(0)
      expect(command.complaints()).toBe(
        'serve-dist: a worker ended by SIGKILL. Another one starts in 100 ms.\n',
      )
    })

    test('keeps its socket if all workers die, and their replacements answer', async () => {
      const command = start()
      const { port } = await command.listening
      for (const worker of await readChildProcessIds(command.child.pid)) process.kill(worker, 'SIGKILL')
      expect(await ask(port, '/')).toBe('page')
      expect(await stopCommand(command)).toBe(0)
    })

    test('gives new connections to an idle worker', async () => {
      const command = start()
      const { port } = await command.listening
      const workers = (await readChildProcessIds(command.child.pid)).map(String)
      // Wait until both workers have this `Host` in their table.
      await vi.waitUntil(async () => {
        const asked = await Promise.all(Array.from({ length: 8 }, () => ask(port, '/pid')))
        return new Set(asked).size === 2
      })
      const busy = await openConnection(port)
      const folder = await temporaryDirectory()
      const rendered = askOn(busy, `/pid?busy=${folder}`)
      const [slow] = await begun(folder, 1)
      const other = workers.find((pid) => pid !== slow)
      const answers: string[] = []
      for (let count = 0; count < 20; count += 1) {
        void ask(port, '/pid').then((answer) => answers.push(answer))
        await ask(port, '/')
      }
      // On a busy machine, the busy worker may accept some of these connections first.
      await vi.waitUntil(() => answers.length > 15)
      expect(new Set(answers)).toEqual(new Set([other]))
      await writeFile(join(folder, 'go'), '')
      expect(await rendered).toBe(slow)
      busy.socket.destroy()
      expect(await stopCommand(command)).toBe(0)
    })

    test('serves files on new connections while both render pages', async () => {
      const command = start()
      const { port } = await command.listening
      const known = new Map<string, Connection>()
      await vi.waitUntil(async () => {
        const connection = await openConnection(port)
        known.set(await askOn(connection, '/pid'), connection)
        return known.size === 2
      })
      const folder = await temporaryDirectory()
      const rendered = [...known.values()].map(
        async (connection) => await askOn(connection, `/pid?busy=${folder}`),
      )
      await begun(folder, 2)
      for (let count = 0; count < 10; count += 1) expect(await ask(port, '/')).toBe('page')
      await writeFile(join(folder, 'go'), '')
      expect(new Set(await Promise.all(rendered))).toEqual(new Set(known.keys()))
      for (const { socket } of known.values()) socket.destroy()
      expect(await stopCommand(command)).toBe(0)
    })

    test('encrypts with the certificate, and redirects to its port', async () => {
      const { cert, key } = await writeCertificate()
      const command = start(['--tls-cert', cert, '--tls-key', key, '--redirect-http', '0'])
      const { line, port } = await command.listening
      expect(line).toContain(`engine: native · https://127.0.0.1:${port}/`)
      const connection = await openConnection(port, dialTls)
      expect(await askOn(connection, '/')).toBe('page')
      connection.socket.destroy()
      expect(await stopCommand(command)).toBe(0)
      const { stdout, stderr } = await command.exited
      expect(stdout).toMatch(/^redirecting HTTP to HTTPS · http:\/\/127\.0\.0\.1:\d+\/$/m)
      expect(stderr).toBe('')
    })

    test('explains the problem if a new worker cannot use the new certificate', async () => {
      const { cert, key } = await writeCertificate()
      const command = start(['--tls-cert', cert, '--tls-key', key, '--engine', 'auto'])
      const { port } = await command.listening
      const odd = makeCertificate({ curve: 'secp256k1' })
      await Promise.all([writeFile(cert, odd.cert), writeFile(key, odd.key)])
      const [worker = 0] = await readChildProcessIds(command.child.pid)
      process.kill(worker, 'SIGKILL')
      await vi.waitUntil(() => command.complaints().includes('SD_ENGINE_UNAVAILABLE'))
      expect(command.complaints()).toMatch(
        /SD_ENGINE_UNAVAILABLE: a new worker cannot use the native engine of this server: it cannot use the certificate: .+\. Fix this, or restart the server /,
      )
      const connection = await openConnection(port, dialTls)
      expect(await askOn(connection, '/')).toBe('page')
      connection.socket.destroy()
      expect(await stopCommand(command)).toBe(0)
    })

    test('answers all accepted connections before it stops, then does not listen', async () => {
      const command = start()
      const { port } = await command.listening
      await ask(port, '/')
      const answers = await requestWhileStopping(command, port)
      expect(answers).toEqual(Array.from({ length: 60 }, () => [200, 0]))
      expect((await command.exited).code).toBe(0)
    })

    test('refuses new connections while a page finishes during a stop', async () => {
      const command = start()
      const { port } = await command.listening
      const connection = await openConnection(port)
      const folder = await temporaryDirectory()
      const page = askOn(connection, `/pid?wait=${folder}`)
      await begun(folder, 1)
      command.child.kill('SIGTERM')
      await vi.waitFor(() => expect(ask(port, '/')).rejects.toMatchObject({ code: 'ECONNREFUSED' }))
      await writeFile(join(folder, 'go'), '')
      expect(Number(await page)).toBeGreaterThan(0)
      expect((await command.exited).code).toBe(0)
    })

    test('creates a unix socket once, and removes it once', async () => {
      const path = join(await temporaryDirectory(), 'serve.sock')
      const command = start(['--socket', path])
      const { url } = await command.listening
      expect(url).toBe(`http://unix:${path}:/`)
      await replaceWorker(command.child.pid)
      expect(existsSync(path)).toBe(true)
      expect(await stopCommand(command)).toBe(0)
      expect(existsSync(path)).toBe(false)
    })

    test('leaves no socket behind if it cannot start', async () => {
      const path = join(await temporaryDirectory(), 'serve.sock')
      const { code } = await start(['--socket', path, '--ssr', join(directory, 'nowhere.mjs')]).exited
      expect([code, existsSync(path)]).toEqual([1, false])
    })

    test('serves the socket of LISTEN_FDS', async () => {
      const socket = await openListeningSocket()
      const command = start([], { inherited: socket.descriptor })
      socket.close()
      const { line } = await command.listening
      expect(line).toContain(`engine: native · http://127.0.0.1:${socket.port}/`)
      expect(await ask(socket.port, '/')).toBe('page')
      expect(await stopCommand(command)).toBe(0)
    })

    test('counts and logs the responses of all workers', async () => {
      const opsPort = await freePort()
      const command = start(['--ops', `127.0.0.1:${opsPort}`, '--access-log', 'common'])
      const { port } = await command.listening
      for (let count = 0; count < 10; count += 1) await ask(port, '/')
      const metrics = parseMetrics(await ask(opsPort, '/metrics'))
      expect(metrics.get('serve_dist_workers{state="answering"}')).toBe(2)
      expect(await stopCommand(command)).toBe(0)
      const { stdout } = await command.exited
      expect(stdout.match(/"GET \/ HTTP\/1\.1" 200 /g)).toHaveLength(10)
    })
  },
)
