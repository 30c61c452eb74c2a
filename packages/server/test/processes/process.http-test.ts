import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { dialTls } from '../support/dial-tls.ts'
import { getOverSocket } from '../support/get-over-socket.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { openConnection } from '../support/open-connection.ts'
import { openListeningSocket } from '../support/open-listening-socket.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { type RunningCommand, spawnCommand } from '../support/spawn-command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { isNative } from '../support/tested-engine.ts'

const large = Buffer.alloc(16 * 1024 * 1024, 'abcdefg')

let directory: string
beforeAll(async () => {
  directory = await buildFixture({ 'index.html': 'page', 'large.bin': large }, { base: '/app/' })
})

async function stop({ child, exited }: RunningCommand): Promise<number | null> {
  child.kill('SIGTERM')
  const { code } = await exited
  return code
}

async function socketPath(): Promise<string> {
  return join(await temporaryDirectory(), 'serve.sock')
}

describe.skipIf(process.platform === 'win32').each([
  ['one process', []],
  ['two workers', ['--workers', '2']],
])('--socket, %s', (_what, args) => {
  test("listens on a unix socket with its mode, prints it in nginx's form, and removes it at the end", async () => {
    const path = await socketPath()
    const command = spawnCommand([directory, '--socket', path, ...args])
    const { url } = await command.listening
    expect(url).toBe(`http://unix:${path}:/app/`)
    const { mode } = await stat(path)
    expect((mode & 0o777).toString(8)).toBe('660')
    expect(await getOverSocket(path, '/app/')).toBe('page')
    expect(await stop(command)).toBe(0)
    expect(existsSync(path)).toBe(false)
  })

  test('creates the socket with its final mode, and never with a wider one', async () => {
    const path = await socketPath()
    const changeNoMode = `
      import fs from 'node:fs'
      import { syncBuiltinESMExports } from 'node:module'
      fs.promises.chmod = async () => {}
      syncBuiltinESMExports()`
    const nodeOptions = ['--import', `data:text/javascript,${encodeURIComponent(changeNoMode)}`]
    const command = spawnCommand([directory, '--socket', `${path}:600`, ...args], {
      nodeOptions,
    })
    await command.listening
    const { mode } = await stat(path)
    expect((mode & 0o777).toString(8)).toBe('600')
    await stop(command)
  })

  test('replaces a socket whose server was killed', async () => {
    const path = await socketPath()
    const killed = spawnCommand([directory, '--socket', path, ...args])
    await killed.listening
    killed.child.kill('SIGKILL')
    await killed.exited
    expect(existsSync(path)).toBe(true)
    const command = spawnCommand([directory, '--socket', path, ...args])
    await command.listening
    expect(await getOverSocket(path, '/app/')).toBe('page')
    await stop(command)
  })

  test('does not replace the socket of a running server: exit code 1', async () => {
    const path = await socketPath()
    const first = spawnCommand([directory, '--socket', path])
    await first.listening
    const { code, stderr } = await spawnCommand([directory, '--socket', path, ...args]).exited
    expect([code, stderr]).toEqual([
      1,
      `serve-dist: SD_LISTEN_FAILED: a server already listens on ${path}. Stop it, or choose another path with --socket.\n`,
    ])
    expect(await getOverSocket(path, '/app/')).toBe('page')
    await stop(first)
  })

  test('never removes a file that is not a socket: exit code 1', async () => {
    const path = await socketPath()
    await writeFile(path, 'mine')
    const { code, stderr } = await spawnCommand([directory, '--socket', path, ...args]).exited
    expect([code, stderr]).toEqual([
      1,
      `serve-dist: SD_LISTEN_FAILED: ${path} exists but is not a socket. Remove it, or choose another path with --socket.\n`,
    ])
    expect(existsSync(path)).toBe(true)
  })

  test('removes the socket if a second signal ends the process at once', async () => {
    const path = await socketPath()
    const { child, exited, listening } = spawnCommand([directory, '--socket', path, ...args])
    await listening
    const socket = connect(path)
    socket.on('error', () => {
      // The server cuts the connection before the response is complete.
    })
    const idle = connect(path)
    socket.write(formatRequest({ target: '/app/large.bin' }))
    idle.write(formatRequest({ target: '/app/' }))
    await Promise.all([once(socket, 'readable'), once(idle, 'data')])
    child.kill('SIGTERM')
    await once(idle, 'close')
    child.kill('SIGTERM')
    const { code } = await exited
    expect([code, existsSync(path)]).toEqual([1, false])
    socket.destroy()
  })

  test('explains why it cannot create a socket', async () => {
    const { code, stderr } = await spawnCommand([directory, '--socket', '/nowhere/a.sock', ...args]).exited
    expect([code, stderr]).toEqual([
      1,
      'serve-dist: SD_LISTEN_FAILED: cannot create /nowhere/a.sock: its folder does not exist, or this user may not write to it. Choose another path with --socket.\n',
    ])
  })
})

/**
 * Starts workers of the native engine that never load their module. Their primary process has created the
 * socket.
 */
async function startHanging(): Promise<RunningCommand & { readonly path: string }> {
  const path = await socketPath()
  const module = join(await temporaryDirectory(), 'entry.mjs')
  await writeFile(module, 'await new Promise(() => setInterval(() => {}, 1000))')
  const command = spawnCommand([directory, '--socket', path, '--workers', '2', '--ssr', module], {
    env: { SERVE_DIST_ENGINE: 'native' },
  })
  await vi.waitUntil(() => existsSync(path))
  return { ...command, path }
}

describe.skipIf(!isNative)('--socket while workers of the native engine start', () => {
  test('removes it at a signal', async () => {
    const command = await startHanging()
    expect(await stop(command)).toBe(143)
    expect(existsSync(command.path)).toBe(false)
  })

  test('does not remove the socket of another server that has replaced it', async () => {
    const command = await startHanging()
    await rm(command.path)
    const other = createServer().listen(command.path)
    await once(other, 'listening')
    expect(await stop(command)).toBe(143)
    expect(existsSync(command.path)).toBe(true)
    other.close()
  })
})

test.skipIf(!isNative)(
  'does not remove the socket of another server if a second signal ends the process',
  async () => {
    const path = await socketPath()
    const { child, exited, listening } = spawnCommand([directory, '--socket', path])
    await listening
    const socket = connect(path)
    socket.on('error', () => {
      // The server cuts the connection before the response is complete.
    })
    const idle = connect(path)
    socket.write(formatRequest({ target: '/app/large.bin' }))
    idle.write(formatRequest({ target: '/app/' }))
    await Promise.all([once(socket, 'readable'), once(idle, 'data')])
    await rm(path)
    const other = createServer().listen(path)
    await once(other, 'listening')
    child.kill('SIGTERM')
    await once(idle, 'close')
    child.kill('SIGTERM')
    const { code } = await exited
    expect([code, existsSync(path)]).toEqual([1, true])
    socket.destroy()
    other.close()
  },
)

describe.skipIf(process.platform === 'win32').each([
  ['one process', []],
  ['two workers', ['--workers', '2']],
])('LISTEN_FDS, %s', (_what, args) => {
  test('serves the inherited socket, and warns once that --port is ignored', async () => {
    const socket = await openListeningSocket()
    const command = spawnCommand([directory, '--port', '0', ...args], { inherited: socket.descriptor })
    socket.close()
    const { url } = await command.listening
    expect(url).toBe(`http://127.0.0.1:${socket.port}/app/`)
    const response = await rawRequest(socket.port, { target: '/app/' })
    expect(response.body.toString()).toBe('page')
    expect(await stop(command)).toBe(0)
    expect(command.complaints()).toBe(
      'serve-dist: warning: --port has no effect with LISTEN_FDS: remove one of them\n',
    )
  })

  test('rejects a descriptor that is not a socket', async () => {
    const program = 'exec 3</dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
    const bin = new URL('../../bin/serve-dist.js', import.meta.url).pathname
    const running = promisify(execFile)('/bin/sh', [
      '-c',
      program,
      'sh',
      process.execPath,
      bin,
      directory,
      ...args,
    ])
    await expect(running).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^serve-dist: SD_LISTEN_FAILED: cannot listen on the socket of LISTEN_FDS \(.+\)\n$/,
      ),
    })
  })
})

const systemdActivate = existsSync('/usr/bin/systemd-socket-activate')

describe('systemd-socket-activate', () => {
  test.skipIf(!systemdActivate)(
    'starts the command at the first connection, and serves that connection',
    async () => {
      const path = await socketPath()
      const bin = new URL('../../bin/serve-dist.js', import.meta.url).pathname
      const child = spawn('systemd-socket-activate', ['-l', path, process.execPath, bin, directory])
      let messages = ''
      child.stderr.on('data', (text: Buffer) => (messages += text.toString()))
      try {
        // The file exists before the socket listens.
        await vi.waitUntil(() => messages.includes('Listening on '))
        expect(await getOverSocket(path, '/app/')).toBe('page')
      } finally {
        child.kill('SIGTERM')
        await once(child, 'close')
      }
      expect(child.exitCode).toBe(0)
    },
  )
})

describe.skipIf(process.platform === 'win32')('the process', () => {
  test('ends at the first signal if it has not started yet', async () => {
    // The module never finishes loading, and writes a file when it starts to load.
    const module = join(await temporaryDirectory(), 'entry.mjs')
    await writeFile(
      module,
      'process.stdout.write("loading\\n"); setInterval(() => {}, 1000); await new Promise(() => {})',
    )
    const { child, exited } = spawnCommand([directory, '--port', '0', '--ssr', module])
    await once(child, 'said')
    child.kill('SIGTERM')
    const { code } = await exited
    expect(code).toBe(143)
  })

  test('ends after its server although the application has pending work', async () => {
    const module = join(await temporaryDirectory(), 'entry.mjs')
    await writeFile(
      module,
      'setInterval(() => {}, 1000); export default (request, response) => response.end()',
    )
    const command = spawnCommand([directory, '--port', '0', '--ssr', module])
    await command.listening
    expect(await stop(command)).toBe(0)
  })

  test.each([
    ['production if it is not set', '', 'production'],
    ['its own value if it is set', 'staging', 'staging'],
  ])('gives an application NODE_ENV, %s', async (_case, given, seen) => {
    const module = join(await temporaryDirectory(), 'entry.mjs')
    await writeFile(
      module,
      'const mode = process.env.NODE_ENV; export default (request, response) => response.end(mode)',
    )
    const command = spawnCommand([directory, '--port', '0', '--ssr', module], { env: { NODE_ENV: given } })
    const { port } = await command.listening
    expect(await (await fetch(`http://127.0.0.1:${port}/app/mode`)).text()).toBe(seen)
    expect(await stop(command)).toBe(0)
  })

  test('cuts off unfinished responses at the end of --grace, and ends with exit code 0', async () => {
    const command = spawnCommand([directory, '--port', '0', '--grace', '200ms'])
    const { port } = await command.listening
    const { socket } = await openConnection(port)
    socket.pause()
    socket.write(formatRequest({ target: '/app/large.bin' }))
    await once(socket, 'readable')
    expect(await stop(command)).toBe(0)
    socket.destroy()
  })

  test.each([
    ['one process', []],
    ['two workers', ['--workers', '2']],
  ])('warns once of a flag without effect, and serves: %s', async (_how, more) => {
    const command = spawnCommand([directory, '--port', '0', '--no-deltas', ...more])
    await command.listening
    command.child.kill('SIGTERM')
    const { code, stderr } = await command.exited
    expect([code, stderr]).toEqual([0, 'serve-dist: warning: --no-deltas has no effect without --store\n'])
  })

  test.each([
    [['--grace', 'soon'], /--grace: expected a duration such as 500ms, 10s or 1m.*"soon"/],
    [
      ['--socket', '/s:999'],
      /--socket: expected a path and permissions in octal digits such as \/s:660, found "\/s:999"/,
    ],
  ])('rejects %j', async (args, message) => {
    const { code, stderr } = await spawnCommand([directory, '--port', '0', ...args]).exited
    expect(code).toBe(1)
    expect(stderr).toMatch(message)
  })

  test('drains at SIGTERM as process 1 of a container', async ({ skip }) => {
    const namespace = ['--fork', '--pid', '--mount-proc', '--kill-child']
    const isAllowed = await promisify(execFile)('unshare', [...namespace, 'true']).then(
      () => true,
      () => false,
    )
    skip(!isAllowed, 'this machine has no unshare, or does not allow it')
    const bin = new URL('../../bin/serve-dist.js', import.meta.url).pathname
    const child = spawn('unshare', [...namespace, process.execPath, bin, directory, '--port', '0'])
    const [line] = await once(child.stdout, 'data')
    const port = Number(new URL(/http:\/\/\S+/.exec(String(line))?.[0] ?? '').port)
    const idle = await openConnection(port)
    idle.send(formatRequest({ target: '/app/' }))
    await idle.receive()
    // unshare forwards no signals. Its child is process 1 inside, and has another ID outside.
    const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
    process.kill(Number(children), 'SIGTERM')
    await once(child, 'close')
    expect(child.exitCode).toBe(0)
    expect(await idle.rest()).toHaveLength(0)
  })
})

// A stopped process accepts no connections, so they wait in the kernel's queue.
describe.skipIf(process.platform === 'win32')('SIGTERM while connections wait in the queue', () => {
  test.each([
    ['HTTP', 100, undefined],
    ['HTTPS', 10, dialTls],
  ])('takes effect after each of them is answered: %s', async (_scheme, count, dial) => {
    const { cert, key } = await writeCertificate()
    const flags = dial === undefined ? [] : ['--tls-cert', cert, '--tls-key', key]
    const { child, exited, listening } = spawnCommand([directory, '--port', '0', ...flags])
    const { port } = await listening
    child.kill('SIGSTOP')
    const connections = await Promise.all(
      Array.from({ length: count }, async () => await openConnection(port, dial)),
    )
    for (const connection of connections) connection.send(formatRequest({ target: '/app/' }))
    child.kill('SIGTERM')
    child.kill('SIGCONT')
    const answers = connections.map(async (connection) => (await connection.receive()).body.toString())
    expect(await Promise.all(answers)).toEqual(connections.map(() => 'page'))
    for (const { socket } of connections) socket.end()
    expect((await exited).code).toBe(0)
  })

  test.each([
    ['HTTP', undefined],
    ['HTTPS', dialTls],
  ])('closes them at the end of --grace: %s', async (_scheme, dial) => {
    const module = join(await temporaryDirectory(), 'entry.mjs')
    await writeFile(module, 'export default () => {}')
    const { cert, key } = await writeCertificate()
    const flags = dial === undefined ? [] : ['--tls-cert', cert, '--tls-key', key]
    const args = [directory, '--port', '0', '--grace', '0ms', '--ssr', module, ...flags]
    const { child, exited, listening } = spawnCommand(args)
    const { port } = await listening
    child.kill('SIGSTOP')
    const connections = await Promise.all(
      Array.from({ length: 100 }, async () => await openConnection(port, dial)),
    )
    for (const connection of connections) connection.send(formatRequest({ target: '/app/never' }))
    child.kill('SIGTERM')
    child.kill('SIGCONT')
    const { code, stderr } = await exited
    expect([code, stderr]).toEqual([0, ''])
    for (const { socket } of connections) socket.destroy()
  })

  test('closes any number of them that send nothing', async () => {
    const { child, exited, listening } = spawnCommand([directory, '--port', '0'])
    const { port } = await listening
    child.kill('SIGSTOP')
    const connections = await Promise.all(Array.from({ length: 20 }, async () => await openConnection(port)))
    child.kill('SIGTERM')
    child.kill('SIGCONT')
    const { code, stderr } = await exited
    expect([code, stderr]).toEqual([0, ''])
    for (const { socket } of connections) socket.destroy()
  })
})
