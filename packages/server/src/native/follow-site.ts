import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Site } from '../site/site.ts'
import type { SiteFollower } from '../site/site-holder.ts'
import { type FlatSite, flattenSite } from './engine-table.ts'
import type { ClassOf } from './resource-kinds.ts'

/** Milliseconds that a table may take at once. */
const sliceTime = 5

/** Everything is Node's. */
const noAnswers: FlatSite = {
  text: new Uint8Array(0),
  index: new Uint32Array(4),
  slabs: [],
  files: [],
  choicesFor: () => new Uint8Array(0),
}

/**
 * Gives the engine the answers of each site. What is not ready when a site takes its place is made beside the server's
 * other work, and Node answers all of it until then.
 */
export function followSite(setAnswers: (site: FlatSite) => void, classOf?: ClassOf): SiteFollower {
  let current: Site | undefined
  /** Weak: a prepared site that is never swapped in takes its table with it. */
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

/** `undefined` where more is to be done. */
function runSlice(steps: Generator<void, FlatSite>): FlatSite | undefined {
  const end = performance.now() + sliceTime
  do {
    const step = steps.next()
    if (step.done === true) return step.value
  } while (performance.now() < end)
  return undefined
}
