import { expect, vi } from 'vitest'
import { childOf, childrenOf } from './children-of.ts'

/** Kills a worker of a primary, and waits until there are as many as before without it. */
export async function replaceWorker(primary: number | undefined): Promise<void> {
  const before = await childrenOf(primary)
  const victim = await childOf(primary)
  process.kill(victim, 'SIGKILL')
  await vi.waitFor(
    async () => {
      const children = await childrenOf(primary)
      expect([children.length, children.includes(victim)]).toEqual([before.length, false])
    },
    { timeout: 20_000, interval: 100 },
  )
}
