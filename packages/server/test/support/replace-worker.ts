import { expect, vi } from 'vitest'
import { rawRequest } from './raw-request.ts'
import { readChildProcessId, readChildProcessIds } from './read-child-process-ids.ts'

/** Kills a worker of a primary process, and waits for its replacement. With `opsPort`, it also waits until that listens. */
export async function replaceWorker(primary: number | undefined, opsPort?: number): Promise<void> {
  const before = await readChildProcessIds(primary)
  const victim = await readChildProcessId(primary)
  process.kill(victim, 'SIGKILL')
  await vi.waitFor(
    async () => {
      const children = await readChildProcessIds(primary)
      expect([children.length, children.includes(victim)]).toEqual([before.length, false])
      if (opsPort === undefined) return
      const { body } = await rawRequest(opsPort, { target: '/metrics' })
      expect(body.toString()).toContain(`serve_dist_workers{state="answering"} ${before.length}\n`)
    },
    { timeout: 20_000, interval: 100 },
  )
}
