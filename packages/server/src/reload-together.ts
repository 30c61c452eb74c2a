import type { Worker } from 'node:cluster'
import { askWorker } from './ask-worker.ts'
import type { ReloadOutcome, ReloadRefusal } from './open-site-store.ts'
import { type Place, tellWorker } from './worker-place.ts'

/** Builds that come one after the other while they are loaded. */
const mostAttempts = 3

/**
 * Lets all workers serve the build that the folder has now, or none of them: each loads it beside the one that
 * it serves, one after the other, so that only one of them is busy with it at a time. Only when the last has
 * it, all are told to swap.
 */
export async function reloadTogether(places: readonly Place[]): Promise<ReloadOutcome> {
  // Those that are stuck are found at once, not each in its turn.
  await Promise.all(
    places.map(async ({ worker, buildId }) => {
      if (worker !== undefined && buildId !== undefined) {
        await askWorker(worker, 'serve-dist:ping', 'serve-dist:pong')
      }
    }),
  )
  let buildId = ''
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    const { refusal, builds, prepared } = await prepareAll(places)
    const [build, ...others] = builds
    if (refusal === undefined && build === undefined) {
      return { status: 'refused', buildId, problems: ['no worker is there to load it'] }
    }
    if (refusal === undefined && build !== undefined && others.length === 0) {
      return await swapAll(places, prepared, build)
    }
    for (const { worker } of places) tellWorker(worker, { type: 'serve-dist:drop' })
    if (refusal !== undefined) return refusal
    buildId = places.find(({ isAdmitted }) => isAdmitted)?.buildId ?? ''
  }
  return {
    status: 'refused',
    buildId,
    problems: [`the build changed ${mostAttempts} times while the workers loaded it; reload once it is done`],
  }
}

interface Preparation {
  /** Of the first that refuses the build; the others need not look at it. */
  readonly refusal?: ReloadRefusal
  /** What they would serve. */
  readonly builds: ReadonlySet<string>
  /** Those that have another build than they serve, and what that is. */
  readonly prepared: ReadonlyMap<Worker, string>
}

async function prepareAll(places: readonly Place[]): Promise<Preparation> {
  const asked = new Set<Worker>()
  const builds = new Set<string>()
  const prepared = new Map<Worker, string>()
  for (;;) {
    // One that comes meanwhile is asked, too.
    const next = places.find(
      ({ worker, buildId }) => worker !== undefined && buildId !== undefined && !asked.has(worker),
    )
    const alive = new Set(places.map(({ worker }) => worker))
    for (const worker of prepared.keys()) if (!alive.has(worker)) prepared.delete(worker)
    if (next?.worker === undefined) return { builds, prepared }
    asked.add(next.worker)
    const answer = await askWorker(next.worker, 'serve-dist:prepare', 'serve-dist:prepared')
    // One that has ended is replaced by one that loads what the folder has.
    if (answer === undefined) continue
    const { outcome } = answer
    if (outcome.status === 'refused') return { refusal: outcome, builds, prepared }
    builds.add(outcome.buildId)
    if (outcome.status === 'prepared') prepared.set(next.worker, outcome.replaces)
  }
}

async function swapAll(
  places: readonly Place[],
  prepared: ReadonlyMap<Worker, string>,
  buildId: string,
): Promise<ReloadOutcome> {
  const [replaced] = prepared.values()
  if (replaced === undefined) return { status: 'unchanged', buildId }
  const answers = places.map(async (place) => {
    if (place.worker === undefined || !prepared.has(place.worker)) return
    place.buildId = buildId
    await askWorker(place.worker, 'serve-dist:swap', 'serve-dist:swapped')
  })
  await Promise.all(answers)
  return { status: 'swapped', buildId, replaced }
}
