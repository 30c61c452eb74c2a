import type { Worker } from 'node:cluster'
import { requestFromWorker } from './request-from-worker.ts'
import type { PrepareOutcome, ReloadOutcome, ReloadRefusal } from '../../live/reload-outcome.ts'
import { type ServedBuild, servedId } from '../../site/site.ts'
import { sendToWorker, type WorkerSlot } from './worker-messages.ts'

/** Attempts, if the build changes while it is loaded. */
const mostAttempts = 3

/**
 * Makes all workers reload their certificate and then the current build, or none of them. The workers load
 * the build one after the other, so that only one is busy at a time. After the last one, all activate it.
 * If a worker rejects the build, the others keep what they have loaded until they get the order to drop it.
 */
export async function reloadWorkers(slots: readonly WorkerSlot[]): Promise<ReloadOutcome> {
  // An invalid build must not delay certificates. Asking all workers also finds stuck ones at the same
  // time.
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
      return { status: 'refused', buildId, problems: ['no worker is running'] }
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
      `the build or its environment changed ${mostAttempts} times while the workers loaded it. Reload again when it is complete.`,
    ],
  }
}

interface Preparation {
  /** The first rejection of the build; the other workers need not load it. */
  readonly refusal?: ReloadRefusal
  /** The builds that the living workers have loaded. */
  readonly loaded: ReadonlyMap<Worker, Loaded>
}

type Loaded = Exclude<PrepareOutcome, ReloadRefusal>

async function prepareAll(slots: readonly WorkerSlot[]): Promise<Preparation> {
  const asked = new Set<Worker>()
  const loaded = new Map<Worker, Loaded>()
  for (;;) {
    // Includes workers that started during this reload.
    const next = slots.find(
      ({ worker, build }) => worker !== undefined && build !== undefined && !asked.has(worker),
    )
    const alive = new Set(slots.map(({ worker }) => worker))
    for (const worker of loaded.keys()) if (!alive.has(worker)) loaded.delete(worker)
    if (next?.worker === undefined) return { loaded }
    asked.add(next.worker)
    const answer = await requestFromWorker(next.worker, 'serve-dist:prepare', 'serve-dist:prepared')
    // The replacement of an ended worker loads the current build itself.
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
