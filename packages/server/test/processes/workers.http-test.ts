import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { precompress } from '@serve-dist/precompress'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { describeBlackBox } from '../support/black-box.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { readChildProcessIds, isAlive } from '../support/read-child-process-ids.ts'
import { type Connection, openConnection } from '../support/open-connection.ts'
import { replaceBuildIn } from '../support/replace-build-in.ts'
import { freePort } from '../support/free-port.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { replaceWorker } from '../support/replace-worker.ts'
import { type RunningCommand, spawnCommand } from '../support/spawn-command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { twoProcessFlags } from '../support/two-process-flags.ts'

const large = Buffer.alloc(16 * 1024 * 1024, 'abcdefg')
/** Starting Node is slow on a busy machine. */
const patience = { timeout: 20_000, interval: 100 }
const isHashed = (path: string): boolean => path.startsWith('assets/')
const two = ['--port', '0', '--workers', '2']
let processes: readonly string[]

let directory: string
beforeAll(async () => {
  directory = await buildFixture({ 'index.html': 'page', 'large.bin': large })
  processes = await twoProcessFlags()
})

async function stop({ child, exited }: RunningCommand): Promise<number | null> {
  child.kill('SIGTERM')
  const { code } = await exited
  return code
}

/** Writes a module for `--ssr`. */
async function writeModule(text: string): Promise<string> {
  const file = join(await temporaryDirectory(), 'entry.mjs')
  await writeFile(file, text)
  return file
}

async function ask(connection: Connection, target: string): Promise<string> {
  connection.send(formatRequest({ target }))
  const { body } = await connection.receive()
  return body.toString('latin1', 0, 100)
}

/**
 * Starts two workers that run a statement before they open a file. The statement can use the variables `path`, `cluster`
 * and `fs`.
 */
function spawnWithFault(folder: string, statement: string): RunningCommand {
  const fault = `
    import cluster from 'node:cluster'
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    const { openSync } = fs
    fs.openSync = (path, ...rest) => {
      ${statement}
      return openSync(path, ...rest)
    }
    syncBuiltinESMExports()`
  return spawnCommand([folder, ...processes], {
    nodeOptions: ['--import', `data:text/javascript,${encodeURIComponent(fault)}`],
  })
}

interface FaultyWorkers {
  readonly command: RunningCommand
  readonly folder: string
  /** A file with the number of the worker that cannot read the page. */
  readonly ill: string
  /** Returns the pages that 16 new connections get. */
  readonly pages: () => Promise<string[]>
}

/** Starts two workers, each of which can simulate a bad disk. */
async function startWithFaults(): Promise<FaultyWorkers> {
  const ill = join(await temporaryDirectory(), 'ill')
  await writeFile(ill, '')
  const folder = await buildFixture({ 'index.html': 'page' })
  const command = spawnWithFault(
    folder,
    `const isIll = fs.readFileSync(${JSON.stringify(ill)}, 'utf8') === String(cluster.worker?.id)
    if (isIll && String(path).endsWith('index.html')) throw new Error('bad disk')`,
  )
  const { port } = await command.listening
  return {
    command,
    folder,
    ill,
    async pages() {
      const connections = await Promise.all(Array.from({ length: 16 }, () => openConnection(port)))
      const answers = await Promise.all(connections.map((connection) => ask(connection, '/')))
      for (const { socket } of connections) socket.destroy()
      return answers
    },
  }
}

describeBlackBox({
  name: '--workers 2',
  role: 'standalone',
  async start({ directory: folder, memoryBudget }) {
    const { listening } = spawnCommand([folder, ...two, '--memory-budget', String(memoryBudget)])
    const { port } = await listening
    return port
  },
})

describe.skipIf(process.platform !== 'linux')('--workers', () => {
  test('starts this number of processes, and prints the memory of each in one line', async () => {
    const command = spawnCommand([directory, '--port', '0', '--engine', 'node', '--workers', '3'])
    const { line } = await command.listening
    expect(line).toMatch(
      /^serve-dist \S+ · 2 files, \d+ variants, \d.* in memory · 3 workers of \d+\.\d MB each · engine: node · http:\/\/127\.0\.0\.1:\d+\/$/,
    )
    expect(await readChildProcessIds(command.child.pid)).toHaveLength(3)
    expect(await stop(command)).toBe(0)
    const { stdout, stderr } = await command.exited
    expect([stdout, stderr]).toEqual([`${line}\n`, ''])
  })

  test.each([
    [['--workers', '1'], {}],
    [[], { WORKERS: '1' }],
    [[], { WORKERS: '' }],
  ])('%j with %j uses only this process', async (args, env) => {
    const command = spawnCommand([directory, '--port', '0', ...args], { env })
    const { line } = await command.listening
    expect(line).not.toContain('worker')
    expect(await readChildProcessIds(command.child.pid)).toHaveLength(0)
    await stop(command)
  })

  test('rejects a value that is not a number', async () => {
    const { code, stderr } = await spawnCommand([directory, '--workers', 'many']).exited
    expect(code).toBe(1)
    expect(stderr).toMatch(/--workers: expected auto or a whole number from 1 to 1024, found "many"/)
  })

  test('rejects unlisted pages at the start, but not when it replaces a worker', async () => {
    const folder = await buildFixture({ 'index.html': 'page', 'app.js': 'script' })
    const opsPort = await freePort()
    const command = spawnCommand([folder, ...processes, '--ops', `127.0.0.1:${opsPort}`])
    await command.listening
    const readiness = async (): Promise<unknown> =>
      JSON.parse((await rawRequest(opsPort, { target: '/readyz' })).body.toString())
    await rm(join(folder, 'index.html'))
    await precompress(folder)
    await writeFile(join(folder, 'index.html'), 'written later')
    command.child.kill('SIGHUP')
    const swapped = { unlistedFiles: 1, reload: { outcome: 'swapped' } }
    await vi.waitFor(async () => expect(await readiness()).toMatchObject(swapped), patience)

    await replaceWorker(command.child.pid, opsPort)
    expect(await stop(command)).toBe(0)
    expect(command.complaints()).not.toContain('SD_PAGES_UNLISTED')

    const again = await spawnCommand([folder, ...processes]).exited
    expect([again.code, again.stdout]).toEqual([1, ''])
    expect(again.stderr).toMatch(/^serve-dist: SD_PAGES_UNLISTED: /)
  })

  test('reports once that no worker can serve the build: exit code 1 and no stack trace', async () => {
    const missing = join(directory, 'nowhere')
    const { code, stdout, stderr } = await spawnCommand([missing, ...processes]).exited
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      `serve-dist: SD_BUILD_NOT_FOUND: ${missing}: the folder does not exist. Build first, or pass the folder that the build wrote.\n`,
    ])
  })

  test('warns once about rules of the build that have no effect', async () => {
    const folder = await buildFixture({ 'index.html': 'page', _redirects: '/a /b 301 Country=at\n' })
    const command = spawnCommand([folder, ...processes])
    await command.listening
    await stop(command)
    const { stderr } = await command.exited
    expect(stderr.match(/warning/g)).toHaveLength(1)
  })

  test('warns once about a reloaded build after the first worker was replaced', async () => {
    const folder = await buildFixture({ 'index.html': 'page' })
    const opsPort = await freePort()
    const command = spawnCommand([folder, ...processes, '--ops', `127.0.0.1:${opsPort}`])
    await command.listening
    await replaceWorker(command.child.pid, opsPort)
    await writeFile(join(folder, '_redirects'), '/a /b 301 Country=at\n')
    await precompress(folder)
    command.child.kill('SIGHUP')
    const isComplete = (): boolean =>
      /warning[^]*now serving|now serving[^]*warning/.test(command.complaints())
    await vi.waitUntil(isComplete, patience)
    expect(await stop(command)).toBe(0)
    expect(command.complaints().match(/warning/g)).toHaveLength(1)
  })

  test('reports that the port is in use', async () => {
    const first = spawnCommand([directory, '--port', '0'])
    const { port } = await first.listening
    const { code, stderr } = await spawnCommand([directory, '--port', String(port), '--workers', '2']).exited
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^serve-dist: SD_LISTEN_FAILED: port \d+ on 127\.0\.0\.1 is in use\. .+\n$/),
    ])
    await stop(first)
  })

  test('stops after a module has ended every worker at its start, with exit code 1', async () => {
    const module = await writeModule('process.exit(3)')
    const { code, stdout, stderr } = await spawnCommand([directory, ...two, '--ssr', module]).exited
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/a worker ended by exit code 3. Another one starts in 100 ms.\n/)
    expect(stderr).toMatch(
      /\nserve-dist: SD_WORKERS_FAILED: 5 workers in a row ended shortly after their start, the last one by exit code 3\n$/,
    )
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  test('replaces a worker that dies, without failed requests to the others', async () => {
    const module = await writeModule(
      'export default (request, response) => response.end(String(process.pid))',
    )
    const command = spawnCommand([directory, ...two, '--ssr', module])
    const { port } = await command.listening
    const before = await readChildProcessIds(command.child.pid)
    const connections = new Map<Connection, number>()
    // Any idle worker accepts a connection, so open more until each has one.
    const openUntil = async (pids: number): Promise<void> => {
      await vi.waitUntil(async () => {
        const opened = await Promise.all(Array.from({ length: 8 }, () => openConnection(port)))
        await Promise.all(
          opened.map(async (connection) =>
            connections.set(connection, Number(await ask(connection, '/pid'))),
          ),
        )
        return new Set(connections.values()).size === pids
      })
    }
    await openUntil(2)
    const [victim = 0, survivor = 0] = before
    const done = new AbortController()
    let answers = 0
    const load = [...connections].map(async ([connection, pid]) => {
      while (!done.signal.aborted) {
        const answer = await ask(connection, answers % 2 === 0 ? '/' : '/pid').catch((error: Error) => error)
        if (pid === victim && answer instanceof Error) return
        if (answer !== 'page' && answer !== String(pid)) throw new Error(`${pid}: ${String(answer)}`)
        if (pid === survivor) answers += 1
      }
    })
    await vi.waitUntil(() => answers > 100)
    process.kill(victim, 'SIGKILL')
    await openUntil(3)
    expect(await readChildProcessIds(command.child.pid)).not.toContain(victim)
    const then = answers
    await vi.waitUntil(() => answers > then + 100)
    done.abort()
    await Promise.all(load)
    for (const { socket } of connections.keys()) socket.destroy()
    const { body } = await rawRequest(port)
    expect(body.toString()).toBe('page')
    expect(await readChildProcessIds(command.child.pid)).toContain(survivor)
    expect(await stop(command)).toBe(0)
    expect(command.complaints()).toBe(
      'serve-dist: a worker ended by SIGKILL. Another one starts in 100 ms.\n',
    )
  })

  test('ends with a stack trace at a fault of the primary process, because only applications may fail', async () => {
    const module = await writeModule('export default (request, response) => response.end()')
    const fault = `
      import cluster from 'node:cluster'
      if (cluster.isPrimary) process.on('SIGUSR2', () => { throw new Error('fault of the primary') })`
    const { child, exited, listening } = spawnCommand([directory, ...two, '--ssr', module], {
      nodeOptions: ['--import', `data:text/javascript,${encodeURIComponent(fault)}`],
    })
    await listening
    child.kill('SIGUSR2')
    const { code, stderr } = await exited
    expect(code).toBe(1)
    expect(stderr).toMatch(/Error: fault of the primary\n\s+at /)
    expect(stderr).not.toContain('the application failed')
  })

  test('keeps its port if all workers die at once', async () => {
    const command = spawnCommand([directory, ...processes])
    const { port } = await command.listening
    const before = await readChildProcessIds(command.child.pid)
    for (const worker of before) process.kill(worker, 'SIGKILL')
    await vi.waitUntil(
      async () => {
        const response = await rawRequest(port).catch(() => undefined)
        return response?.status === 200
      },
      { timeout: 10_000 },
    )
    expect(await stop(command)).toBe(0)
  })

  test('drains all workers at a signal to the process group', async () => {
    const command = spawnCommand([directory, ...processes, '--memory-budget', '1k'])
    const { port } = await command.listening
    const workers = await readChildProcessIds(command.child.pid)
    const idle = await Promise.all(Array.from({ length: 16 }, () => openConnection(port)))
    await Promise.all(idle.map((connection) => ask(connection, '/')))
    const busy = await Promise.all(Array.from({ length: 4 }, () => openConnection(port)))
    for (const { socket } of busy) {
      socket.write(formatRequest({ target: '/large.bin' }))
      await once(socket, 'data')
      socket.pause()
    }
    // A terminal and systemd send the signal to the whole group, in any order.
    for (const worker of workers) process.kill(worker, 'SIGINT')
    for (const worker of workers) process.kill(worker, 'SIGTERM')
    expect(await Promise.all(idle.map((connection) => ask(connection, '/')))).toEqual(idle.map(() => 'page'))
    command.child.kill('SIGINT')
    for (const connection of idle) expect(await connection.rest()).toHaveLength(0)
    for (const connection of busy) {
      connection.socket.resume()
      const { body } = await connection.receive()
      expect(body.equals(large)).toBe(true)
      connection.socket.destroy()
    }
    const { code, stderr } = await command.exited
    expect([code, stderr]).toEqual([0, ''])
  })

  test('ends at once at a second signal, with exit code 1', async () => {
    const { child, exited, listening } = spawnCommand([directory, ...processes])
    const { port } = await listening
    const workers = await readChildProcessIds(child.pid)
    const idle = await openConnection(port)
    await ask(idle, '/')
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('error', () => {
      // The connection is cut off in mid-body.
    })
    socket.write(formatRequest({ target: '/large.bin' }))
    await once(socket, 'readable')
    child.kill('SIGTERM')
    await idle.rest()
    child.kill('SIGTERM')
    const { code } = await exited
    expect(code).toBe(1)
    await vi.waitUntil(async () => !(await Promise.all(workers.map(isAlive))).includes(true))
    socket.destroy()
  })

  test('kills a stuck worker after the grace period, and ends with exit code 0', async () => {
    const sign = join(await temporaryDirectory(), 'stuck')
    const module = await writeModule(
      `import { writeFileSync } from 'node:fs'
      export default () => { writeFileSync(${JSON.stringify(sign)}, ''); for (;;); }`,
    )
    const command = spawnCommand([directory, ...two, '--grace', '100ms', '--ssr', module])
    const { port } = await command.listening
    const workers = await readChildProcessIds(command.child.pid)
    const { socket } = await openConnection(port)
    socket.write(formatRequest({ target: '/stuck' }))
    // Otherwise this worker might accept the next connection before it reads this request.
    await vi.waitUntil(() => existsSync(sign))
    // The other worker answers later requests.
    await rawRequest(port)
    expect(await stop(command)).toBe(0)
    expect(await Promise.all(workers.map(isAlive))).toEqual([false, false])
    socket.destroy()
  })

  test('loads the current build in all workers at SIGHUP, and reports it once', async () => {
    const folder = await buildFixture({ 'index.html': 'page' })
    const command = spawnCommand([folder, ...processes])
    const { port } = await command.listening
    const idle = await Promise.all(Array.from({ length: 16 }, () => openConnection(port)))
    await Promise.all(idle.map((connection) => ask(connection, '/')))
    await writeFile(join(folder, 'index.html'), 'newer')
    await spawnCommand(['compress', folder]).exited
    command.child.kill('SIGHUP')
    await vi.waitUntil(() => command.complaints() !== '')
    expect(command.complaints()).toMatch(/^serve-dist: now serving build \w+ \(was \w+\)\n$/)
    expect(await Promise.all(idle.map((connection) => ask(connection, '/')))).toEqual(idle.map(() => 'newer'))
    for (const { socket } of idle) socket.destroy()
    expect(await stop(command)).toBe(0)
  })

  test("keeps the previous build's hashed files in the workers that served it, but not in later ones", async () => {
    const folder = join(await temporaryDirectory(), 'dist')
    await replaceBuildIn(folder, { 'index.html': '1', 'assets/a-1.js': 'one' }, { isHashed })
    const command = spawnCommand([folder, ...processes])
    const { port } = await command.listening
    const idle = await Promise.all(Array.from({ length: 16 }, () => openConnection(port)))
    await Promise.all(idle.map((connection) => ask(connection, '/')))
    await replaceBuildIn(folder, { 'index.html': '2', 'assets/a-2.js': 'two' }, { isHashed })
    command.child.kill('SIGHUP')
    await vi.waitUntil(() => command.complaints() !== '')
    expect(command.complaints()).toMatch(/ \(was \w+\), with 1 hashed file of 1 earlier build\n$/)
    const asked = idle.map((connection) => ask(connection, '/assets/a-1.js'))
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['one']))
    for (const { socket } of idle) socket.destroy()

    await replaceWorker(command.child.pid)
    await replaceWorker(command.child.pid)
    await vi.waitFor(async () => {
      const later = await rawRequest(port, { target: '/assets/a-1.js' })
      expect([later.status, later.field('Cache-Control')]).toEqual([404, 'no-store'])
    }, patience)
    expect(await stop(command)).toBe(0)
  })

  test('serves a new build by all workers or by none, if one of them rejects it', async () => {
    const { command, folder, pages, ill } = await startWithFaults()
    await writeFile(join(folder, 'index.html'), 'newer')
    await spawnCommand(['compress', folder]).exited
    for (const worker of ['2', '1']) {
      await writeFile(ill, worker)
      const before = command.complaints().length
      command.child.kill('SIGHUP')
      await vi.waitUntil(() => command.complaints().length > before)
      expect(command.complaints().slice(before)).toMatch(/^serve-dist: reload refused.*\n.*bad disk/s)
      expect(new Set(await pages())).toEqual(new Set(['page']))
    }
    await writeFile(ill, '')
    command.child.kill('SIGHUP')
    await vi.waitUntil(() => command.complaints().includes('now serving build'))
    expect(new Set(await pages())).toEqual(new Set(['newer']))
    expect(await stop(command)).toBe(0)
  })

  test('lets a replaced worker serve only the build that all serve', async () => {
    const { command, folder, pages, ill } = await startWithFaults()
    const [survivor, victim = 0] = await readChildProcessIds(command.child.pid)
    await writeFile(join(folder, 'index.html'), 'newer')
    await spawnCommand(['compress', folder]).exited
    await writeFile(ill, '1')
    process.kill(victim, 'SIGKILL')
    await vi.waitUntil(() => command.complaints().includes('bad disk'))
    expect(command.complaints()).toMatch(/all workers load it\nserve-dist: reload refused/)
    expect(new Set(await pages())).toEqual(new Set(['page']))
    await writeFile(ill, '')
    await vi.waitFor(async () => expect(new Set(await pages())).toEqual(new Set(['newer'])))
    const workers = await readChildProcessIds(command.child.pid)
    expect([workers[0], workers.length]).toEqual([survivor, 2])
    expect(await stop(command)).toBe(0)
  })

  test('replaces a worker that is stuck during a reload, and the others load the build', async () => {
    const sign = join(await temporaryDirectory(), 'stuck')
    const module = await writeModule(
      `import { writeFileSync } from 'node:fs'
      export default () => { writeFileSync(${JSON.stringify(sign)}, String(process.pid)); for (;;); }`,
    )
    const folder = await buildFixture({ 'index.html': 'page' })
    const command = spawnCommand([folder, ...two, '--ssr', module])
    const { port } = await command.listening
    const { socket } = await openConnection(port)
    socket.on('error', () => {
      // The worker of this connection is killed.
    })
    socket.write(formatRequest({ target: '/stuck' }))
    await vi.waitUntil(() => existsSync(sign) && readFileSync(sign, 'utf8') !== '')
    await writeFile(join(folder, 'index.html'), 'newer')
    await spawnCommand(['compress', folder]).exited
    command.child.kill('SIGHUP')
    await vi.waitUntil(() => command.complaints().includes('now serving build'))
    const stuck = Number(readFileSync(sign, 'utf8'))
    expect(command.complaints()).toContain(`worker ${stuck} is stuck`)
    expect((await rawRequest(port)).body.toString()).toBe('newer')
    await vi.waitFor(async () => {
      const workers = await readChildProcessIds(command.child.pid)
      expect([workers.length, workers.includes(stuck)]).toEqual([2, false])
    })
    expect(await stop(command)).toBe(0)
    socket.destroy()
  })

  test('reports that no worker has the build if each worker that loaded it has died', async () => {
    const victims = join(await temporaryDirectory(), 'victims')
    // Worker 2 runs this while it loads the build: it kills worker 1, which has loaded it, and then itself.
    const fault = `
      const isAlive = (pid) => {
        try {
          return process.kill(pid, 0)
        } catch {
          return false
        }
      }
      if (cluster.worker?.id === 2 && fs.existsSync(${JSON.stringify(victims)})) {
        const first = Number(fs.readFileSync(${JSON.stringify(victims)}, 'utf8'))
        process.kill(first, 'SIGKILL')
        while (isAlive(first));
        process.kill(process.pid, 'SIGKILL')
      }`
    const folder = await buildFixture({ 'index.html': 'page' })
    const command = spawnWithFault(folder, fault)
    const { port } = await command.listening
    const [first] = await readChildProcessIds(command.child.pid)
    await writeFile(join(folder, 'index.html'), 'newer')
    await spawnCommand(['compress', folder]).exited
    await writeFile(victims, String(first))
    command.child.kill('SIGHUP')
    await vi.waitUntil(() => command.complaints().includes('refused'))
    expect(command.complaints()).toMatch(/reload refused.*\n.*no worker is running/)
    await vi.waitFor(async () => expect((await rawRequest(port)).body.toString()).toBe('newer'))
    expect(await stop(command)).toBe(0)
  })

  test('leaves no worker behind if the primary process is killed', async () => {
    const command = spawnCommand([directory, ...processes])
    await command.listening
    const workers = await readChildProcessIds(command.child.pid)
    command.child.kill('SIGKILL')
    await command.exited
    await expect.poll(() => Promise.all(workers.map(isAlive))).toEqual([false, false])
  })
})
