import type { ReloadOutcome } from './open-site-store.ts'
import { isWorkerMessage } from './worker-messages.ts'
import { type Place, tellWorker } from './worker-place.ts'

/** Milliseconds that a worker may take: one that is stuck must not keep the others from a new build. */
const patience = 60_000

/**
 * Lets workers load the build that the folder has now, one after the other, so that only one of them is busy
 * with it at a time. The first that refuses it ends the round.
 */
export async function reloadInTurn(places: readonly Place[]): Promise<ReloadOutcome> {
  let outcome: ReloadOutcome | undefined
  for (const place of places) {
    const next = await reloadWorker(place)
    // One that dies meanwhile is replaced by one that loads what the folder has.
    if (next === undefined) continue
    if (place.ready !== undefined) place.ready = { ...place.ready, buildId: next.buildId }
    if (outcome === undefined || next.status !== 'unchanged') outcome = next
    if (next.status === 'refused') break
  }
  return outcome ?? { status: 'refused', buildId: '', problems: ['no worker is there to load it'] }
}

async function reloadWorker({ worker, ready }: Place): Promise<ReloadOutcome | undefined> {
  if (worker === undefined || ready === undefined) return undefined
  return await new Promise((resolve) => {
    const settle = (outcome: ReloadOutcome | undefined): void => {
      clearTimeout(deadline)
      worker.off('message', onMessage)
      worker.off('exit', onExit)
      resolve(outcome)
    }
    const onExit = (): void => settle(undefined)
    const onMessage = (message: unknown): void => {
      if (isWorkerMessage(message) && message.type === 'serve-dist:reloaded') settle(message.outcome)
    }
    const deadline = setTimeout(onExit, patience)
    worker.on('message', onMessage)
    worker.on('exit', onExit)
    tellWorker(worker, { type: 'serve-dist:reload' })
  })
}
