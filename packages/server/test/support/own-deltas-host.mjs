// node own-deltas-host.mjs <link> <options> <step>…: opens the build that the link leads to, takes the steps, closes, and
// prints what was served. A step is the folder of the next build; "wait": for its deltas; "thread": for what makes them.
import { createHook } from 'node:async_hooks'
import { rename, symlink } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { openLiveSite } from '@serve-dist/server'

const [link = '', options = '{}', ...steps] = process.argv.slice(2)
let threads = 0
createHook({
  init(_id, type) {
    if (type === 'WORKER') threads += 1
  },
}).enable()
/** @type {string[]} */
const warnings = []
/** @type {string[]} */
const outcomes = []
/** @type {object[]} */
const sites = []
const live = await openLiveSite(link, { ...JSON.parse(options), onWarning: (text) => warnings.push(text) })
let { current } = live
note(current)
Object.defineProperty(live, 'current', {
  get: () => current,
  set(site) {
    current = site
    note(site)
  },
})

/** @param {import('@serve-dist/server').Site} site */
function note({ files, summary }) {
  const resources = [...files.values()]
  sites.push({
    threads,
    marked: resources.filter(({ useAsDictionary }) => useAsDictionary !== undefined).length,
    deltas: resources.flatMap(({ deltas }) => [...(deltas?.byDictionary.values() ?? [])].flat()).length,
    bytesInMemory: summary.bytesInMemory,
  })
}

let before = { sites: 0, threads: 0 }
for (const step of steps) {
  if (step === 'wait') while (sites.length < before.sites + 2) await sleep(5)
  else if (step === 'thread') while (threads === before.threads) await sleep(5)
  else {
    await symlink(step, `${link}.new`)
    await rename(`${link}.new`, link)
    before = { sites: sites.length, threads }
    const { status } = await live.reload()
    outcomes.push(status)
  }
}
live.close()
process.once('exit', () => console.log(JSON.stringify({ sites, outcomes, warnings })))
