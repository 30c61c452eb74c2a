import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Site, SiteFollower } from '../site/site.ts'
import { type FlatSite, flattenSite } from './engine-table.ts'

/** Milliseconds that a table may take at once. */
const sliceTime = 5

/** Everything is Node's. */
const noAnswers: FlatSite = {
  text: new Uint8Array(0),
  index: new Uint32Array(3),
  slabs: [],
  choicesFor: () => new Uint8Array(0),
}

/**
 * Gives the engine the answers of each site. What is not ready when a site takes its place is made beside the server's
 * other work, and Node answers all of it until then.
 */
export function followSite(setAnswers: (site: FlatSite) => void): SiteFollower {
  let current: Site | undefined
  let ready: { readonly site: Site; readonly answers: FlatSite } | undefined

  async function answerLater(site: Site, steps: Generator<void, FlatSite>): Promise<void> {
    const answers = await runInSlices(steps)
    if (current === site) setAnswers(answers)
  }

  return {
    async prepare(site) {
      ready = { site, answers: await runInSlices(flattenSite(site)) }
    },
    swap(site) {
      current = site
      const steps = flattenSite(site)
      const answers = ready?.site === site ? ready.answers : runSlice(steps)
      ready = undefined
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
