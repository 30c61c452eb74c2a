import { loadEngine } from '@serve-dist/engine'
import { readdir, readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { readChildProcessIds } from '../support/read-child-process-ids.ts'
import { rawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { requestWhileStopping, stopCommand } from '../support/stop-command.ts'

const native = ['--port', '0', '--engine', 'native']

let directory: string
beforeAll(async () => {
  directory = await buildFixture({ 'index.html': 'page' })
})

/** Returns the number of threads that accept and answer connections. */
async function threadsOf(pid = 0): Promise<number> {
  const tasks = await readdir(`/proc/${pid}/task`)
  // A thread may have ended in the meantime.
  const names = await Promise.allSettled(
    tasks.map((task) => readFile(`/proc/${pid}/task/${task}/comm`, 'utf8')),
  )
  return names.filter((name) => name.status === 'fulfilled' && /^serve-dist \d+\n$/.test(name.value)).length
}

describe.skipIf(process.platform !== 'linux' || typeof loadEngine() === 'string')('threads', () => {
  test('are as many as --workers sets, in one process, as the start line says', async () => {
    const command = spawnCommand([directory, ...native, '--workers', '3'])
    const { line, port } = await command.listening
    expect(line).toContain(' in memory · engine: native (3 threads) · http')
    expect(await threadsOf(command.child.pid)).toBe(3)
    expect(await readChildProcessIds(command.child.pid)).toHaveLength(0)
    const answers = await Promise.all(Array.from({ length: 20 }, () => rawRequest(port, { target: '/' })))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await stopCommand(command)).toBe(0)
  })

  test('is one with --workers 1', async () => {
    const command = spawnCommand([directory, ...native, '--workers', '1'])
    await command.listening
    expect(await threadsOf(command.child.pid)).toBe(1)
    expect(await stopCommand(command)).toBe(0)
  })

  test('fail if the port is in use, and listen exclusively', async () => {
    const first = spawnCommand([directory, ...native, '--workers', '2'])
    const { port } = await first.listening
    const same = [directory, '--port', String(port), '--workers', '2', '--engine']
    const ends = ['native', 'node'].map(async (engine) => await spawnCommand([...same, engine]).exited)
    for (const { code, stderr } of await Promise.all(ends)) {
      expect(code).toBe(1)
      expect(stderr).toContain(`port ${port} on 127.0.0.1 is in use`)
    }
    expect((await rawRequest(port, { target: '/' })).status).toBe(200)
    expect(await stopCommand(first)).toBe(0)
  })

  test('answer all accepted connections before they stop, whichever thread has them', async () => {
    const command = spawnCommand([directory, ...native, '--workers', '4'])
    const { port } = await command.listening
    await rawRequest(port, { target: '/' })
    const answers = await requestWhileStopping(command, port)
    expect(answers).toEqual(Array.from({ length: 60 }, () => [200, 0]))
    expect((await command.exited).code).toBe(0)
  })
})
