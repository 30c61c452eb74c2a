import { expect, vi } from 'vitest'
import { childrenOf } from './children-of.ts'

/** Kills a worker of a primary, and waits until there are as many as before without it. */
export async function replaceWorker(primary: number | undefined): Promise<void> {
  const before = await childrenOf(primary)
  const [victim = 0] = before
  process.kill(victim, 'SIGKILL')
  await vi.waitFor(
    async () => {
      const children = await childrenOf(primary)
      expect([children.length, children.includes(victim)]).toEqual([before.length, false])
    },
    { timeout: 20_000, interval: 100 },
  )
}
