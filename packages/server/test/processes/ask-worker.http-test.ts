import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { requestFromWorker } from '../../src/serve/workers/request-from-worker.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** Starts a worker whose event loop blocks at the first message. */
async function startStuckWorker(): Promise<Worker> {
  const exec = join(await temporaryDirectory(), 'worker.mjs')
  await writeFile(exec, `process.on('message', () => { for (;;); })`)
  cluster.setupPrimary({ exec, execArgv: [] })
  const worker = cluster.fork()
  await once(worker, 'online')
  return worker
}

describe('requestFromWorker', () => {
  const complain = vi.spyOn(process.stderr, 'write')
  beforeEach(() => {
    complain.mockReturnValue(true)
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  })
  afterEach(() => {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL')
    vi.useRealTimers()
    complain.mockReset()
  })

  test.each([
    ['it has its certificate', 5, 'serve-dist:certify', 'serve-dist:certified'],
    ['it has loaded a build', 60, 'serve-dist:prepare', 'serve-dist:prepared'],
    ['it has swapped', 60, 'serve-dist:swap', 'serve-dist:swapped'],
  ] as const)('waits for the confirmation that %s (%d s)', async (_what, seconds, question, answer) => {
    const worker = await startStuckWorker()
    const exited = once(worker, 'exit')
    const answered = requestFromWorker(worker, question, answer)
    vi.advanceTimersByTime(seconds * 1000 - 1)
    expect([worker.process.killed, complain.mock.calls]).toEqual([false, []])
    vi.advanceTimersByTime(1)
    expect(await answered).toBe(undefined)
    expect(await exited).toEqual([null, 'SIGKILL'])
    expect(complain.mock.calls.map(([text]) => text)).toEqual([
      `serve-dist: worker ${worker.process.pid} is stuck (no answer within ${seconds} s) and is killed\n`,
    ])
  })
})
