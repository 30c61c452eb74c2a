import type { Worker } from 'node:cluster'
import { requestFromWorker } from './request-from-worker.ts'
import type { PrepareOutcome, ReloadOutcome, ReloadRefusal } from '../../live/reload-outcome.ts'
import { type ServedBuild, servedId } from '../../site/site.ts'
import { sendToWorker, type WorkerSlot } from './worker-messages.ts'

/** Builds that come one after the other while they are loaded. */
const mostAttempts = 3

/**
 * Lets all workers read their certificate again, then serve the build that the folder has now, or none of them: each
 * loads it beside the one that it serves, one after the other, so that only one of them is busy with it at a time.
 * Once the last has it, all swap; where one refuses it, they keep what they have loaded until they are told to drop it.
 */
export async function reloadWorkers(slots: readonly WorkerSlot[]): Promise<ReloadOutcome> {
  // A build that is refused keeps no certificate back; and those that are stuck are found at once, not in turn.
  await Promise.all(
    slots.map(async ({ worker, build }) => {
      if (worker !== undefined && build !== undefined) {
        await requestFromWorker(worker, 'serve-dist:certify', 'serve-dist:certified')
      }
    }),
  )
  let buildId = ''
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    const { refusal, loaded } = await prepareAll(slots)
    const [build, ...others] = new Map([...loaded.values()].map((each) => [servedId(each), each])).values()
    if (refusal === undefined && build === undefined) {
      return { status: 'refused', buildId, problems: ['no worker is there to load it'] }
    }
    if (refusal === undefined && build !== undefined && others.length === 0) {
      return await swapAll(slots, loaded, build)
    }
    if (refusal !== undefined) return refusal
    for (const { worker } of slots) sendToWorker(worker, { type: 'serve-dist:drop' })
    buildId = slots.find(({ isAdmitted }) => isAdmitted)?.build?.buildId ?? ''
  }
  return {
    status: 'refused',
    buildId,
    problems: [
      `the build, or its environment, changed ${mostAttempts} times while the workers loaded it; reload once it is done`,
    ],
  }
}

interface Preparation {
  /** Of the first that refuses the build; the others need not look at it. */
  readonly refusal?: ReloadRefusal
  /** What those have that live. */
  readonly loaded: ReadonlyMap<Worker, Loaded>
}

type Loaded = Exclude<PrepareOutcome, ReloadRefusal>

async function prepareAll(slots: readonly WorkerSlot[]): Promise<Preparation> {
  const asked = new Set<Worker>()
  const loaded = new Map<Worker, Loaded>()
  for (;;) {
    // One that comes meanwhile is asked, too.
    const next = slots.find(
      ({ worker, build }) => worker !== undefined && build !== undefined && !asked.has(worker),
    )
    const alive = new Set(slots.map(({ worker }) => worker))
    for (const worker of loaded.keys()) if (!alive.has(worker)) loaded.delete(worker)
    if (next?.worker === undefined) return { loaded }
    asked.add(next.worker)
    const answer = await requestFromWorker(next.worker, 'serve-dist:prepare', 'serve-dist:prepared')
    // One that has ended is replaced by one that loads what the folder has.
    if (answer === undefined) continue
    const { outcome } = answer
    if (outcome.status === 'refused') return { refusal: outcome, loaded }
    loaded.set(next.worker, outcome)
  }
}

async function swapAll(
  slots: readonly WorkerSlot[],
  loaded: ReadonlyMap<Worker, Loaded>,
  build: ServedBuild,
): Promise<ReloadOutcome> {
  const prepared = [...loaded.values()].find(({ status }) => status === 'prepared')
  if (prepared?.status !== 'prepared') return { ...build, status: 'unchanged' }
  const answers = slots.map(async (slot) => {
    if (slot.worker === undefined || loaded.get(slot.worker)?.status !== 'prepared') return
    slot.build = build
    await requestFromWorker(slot.worker, 'serve-dist:swap', 'serve-dist:swapped')
  })
  await Promise.all(answers)
  const { replaces: replaced, ...outcome } = prepared
  return { ...outcome, status: 'swapped', replaced }
}
