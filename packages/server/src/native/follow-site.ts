import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Site } from '../site/site.ts'
import type { SiteFollower } from '../site/site-holder.ts'
import { type FlatSite, flattenSite } from './engine-table.ts'
import type { ClassOf } from './resource-kinds.ts'

/** Milliseconds of work on a table per turn of the event loop. */
const sliceTime = 5

/** An empty table: Node answers everything. */
const noAnswers: FlatSite = {
  text: new Uint8Array(0),
  index: new Uint32Array(4),
  slabs: [],
  files: [],
  choicesFor: () => new Uint8Array(0),
  rules: [],
}

/**
 * Gives the engine the answers of each site. If a table is not ready in time, it is created in the
 * background, and Node answers all requests until then.
 */
export function followSite(setAnswers: (site: FlatSite) => void, classOf?: ClassOf): SiteFollower {
  let current: Site | undefined
  /** Weak, so that the table of an unused site is freed with the site. */
  const ready = new WeakMap<Site, FlatSite>()

  async function answerLater(site: Site, steps: Generator<void, FlatSite>): Promise<void> {
    const answers = await runInSlices(steps)
    if (current === site) setAnswers(answers)
  }

  return {
    async prepare(site) {
      ready.set(site, await runInSlices(flattenSite(site, classOf)))
    },
    swap(site) {
      current = site
      const steps = flattenSite(site, classOf)
      const answers = ready.get(site) ?? runSlice(steps)
      ready.delete(site)
      setAnswers(answers ?? noAnswers)
      if (answers === undefined) void answerLater(site, steps)
    },
  }
}

async function runInSlices(steps: Generator<void, FlatSite>): Promise<FlatSite> {
  let answers = runSlice(steps)
  while (answers === undefined) {
    await nextTurn()
    answers = runSlice(steps)
  }
  return answers
}

/** Returns `undefined` if more work remains. */
function runSlice(steps: Generator<void, FlatSite>): FlatSite | undefined {
  const end = performance.now() + sliceTime
  do {
    const step = steps.next()
    if (step.done === true) return step.value
  } while (performance.now() < end)
  return undefined
}
