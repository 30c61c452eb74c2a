import { access } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { formatRequest } from '../support/raw-request.ts'
import { type RunningCommand, spawnCommand } from '../support/spawn-command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** A module that ends the process in which it is loaded, in the given way. */
const ending = `
const ways = {
  exit: () => process.exit(3),
  throw: () => { throw new Error('nobody catches this') },
  reject: () => void Promise.reject(new Error('nobody catches this')),
  abort: () => process.abort(),
}
process.on('SIGUSR2', () => ways[process.env.TEST_ENDING]())
`

let directory: string
let preloaded: string
beforeAll(async () => {
  directory = await buildFixture({ 'index.html': compressibleText(50_000) })
  preloaded = join(await writeFixture({ 'ending.mjs': ending }), 'ending.mjs')
})

function start(way: string, args: readonly string[]): RunningCommand {
  return spawnCommand([directory, '--engine', 'native', ...args], {
    nodeOptions: ['--import', preloaded],
    env: { TEST_ENDING: way },
  })
}

type Place = { readonly port: number; readonly host: string } | { readonly path: string }

/** Returns the error code of a connection attempt, or `undefined` if a server listens. */
function refusalAt(place: Place): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(place, () => {
      socket.destroy()
      resolve(undefined)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
  })
}

/** Requests files and application responses on several connections until the server is gone. */
function keepAsking(place: Place): Promise<void>[] {
  return ['/', '/', '/none', '/none'].map(
    async (target) =>
      await new Promise<void>((resolve) => {
        const request = formatRequest({ target }).repeat(20)
        const socket = connect(place, () => socket.write(request))
        socket.on('data', () => socket.write(formatRequest({ target })))
        // A reset also means that the server is gone.
        socket.on('error', () => undefined)
        socket.once('close', () => resolve())
      }),
  )
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  )
}

// Each row: the way to end, whether the process can clean up, and the exit code.
const endings = [
  ['is stopped', 'SIGTERM', '', true, 0],
  ['exits', 'SIGUSR2', 'exit', true, 3],
  ['throws an uncaught error', 'SIGUSR2', 'throw', true, 1],
  ['rejects without a handler', 'SIGUSR2', 'reject', true, 1],
  ['aborts', 'SIGUSR2', 'abort', false, null],
  ['is killed', 'SIGKILL', '', false, null],
] as const

describe.skipIf(process.platform !== 'linux')('a process with the native engine that', () => {
  test.each(endings)('%s under load leaves no listener on its port', async (_what, signal, way, _, code) => {
    const { child, listening, exited } = start(way, ['--port', '0'])
    const { line, port } = await listening
    expect(line).toContain('engine: native')
    const place = { port, host: '127.0.0.1' }
    const clients = keepAsking(place)
    expect(await refusalAt(place)).toBeUndefined()
    child.kill(signal)
    expect((await exited).code).toBe(code)
    await Promise.all(clients)
    expect(await refusalAt(place)).toBe('ECONNREFUSED')
  })

  test.each(endings)(
    '%s under load leaves no unix socket behind, or one that the next start replaces',
    async (_what, signal, way, cleansUp, code) => {
      const path = join(await temporaryDirectory(), 'socket')
      const { child, listening, exited } = start(way, ['--socket', path])
      await listening
      const clients = keepAsking({ path })
      expect(await refusalAt({ path })).toBeUndefined()
      child.kill(signal)
      expect((await exited).code).toBe(code)
      await Promise.all(clients)
      expect(await exists(path)).toBe(!cleansUp)
      if (cleansUp) return
      expect(await refusalAt({ path })).toBe('ECONNREFUSED')
      const next = start('', ['--socket', path])
      await next.listening
      expect(await refusalAt({ path })).toBeUndefined()
      next.child.kill('SIGTERM')
      await next.exited
      expect(await exists(path)).toBe(false)
    },
  )
})
