import { expect, vi } from 'vitest'
import { readChildProcessId, readChildProcessIds } from './read-child-process-ids.ts'

/** Kills a worker of a primary process, and waits for its replacement. */
export async function replaceWorker(primary: number | undefined): Promise<void> {
  const before = await readChildProcessIds(primary)
  const victim = await readChildProcessId(primary)
  process.kill(victim, 'SIGKILL')
  await vi.waitFor(
    async () => {
      const children = await readChildProcessIds(primary)
      expect([children.length, children.includes(victim)]).toEqual([before.length, false])
    },
    { timeout: 20_000, interval: 100 },
  )
}
