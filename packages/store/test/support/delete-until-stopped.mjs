// node delete-until-stopped.mjs <command> <where> <what> <options>: purges, prunes or publishes, and prints the outcome.
// At point number STOP_AT, it prints a line and stops itself. KILL_AT: it kills itself. Points are before and after
// each method of the store. DELAY_AT: deletion number DELAY_AT has no answer, and runs when the input ends. Without
// these, it prints the numbers of points and deletions.
import { writeSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { openStore, prune, publish, purge } from '@serve-dist/store'
import { interceptStore } from './intercept-store.mjs'

const [command = '', where = '', what = '', given = '{}'] = process.argv.slice(2)
const options = JSON.parse(given)
const { STOP_AT, KILL_AT, DELAY_AT } = process.env
const counts = { points: 0, deletions: 0 }
/** @type {(() => Promise<unknown>)[]} */
const delayed = []

function step() {
  counts.points += 1
  if (String(counts.points) === KILL_AT) process.kill(process.pid, 'SIGKILL')
  if (String(counts.points) !== STOP_AT) return
  writeSync(1, 'stopped\n')
  process.kill(process.pid, 'SIGSTOP')
}

const store = await openStore(where)
/** @type {import('@serve-dist/store').StoreBackend} */
const slow = {
  ...store,
  async delete(key, more) {
    counts.deletions += 1
    if (String(counts.deletions) !== DELAY_AT) return await store.delete(key, more)
    delayed.push(async () => await store.delete(key))
    // The next attempt succeeds, or the operation fails.
    if (counts.deletions % 2 === 0) throw new Error('no answer')
    await store.delete(key, more)
    return 'unsettled'
  },
}
const stepping = interceptStore(slow, step)
/** @type {Record<string, () => Promise<unknown>>} */
const commands = {
  purge: async () => await purge(stepping, what, options),
  prune: async () => await prune(stepping, options.retention, options),
  publish: async () => await publish(what, stepping, options),
}
const outcome = await commands[command]?.().then(
  () => 'well',
  (error) => error.code ?? String(error.stack),
)
if (delayed.length > 0) {
  writeSync(1, 'stopped\n')
  await text(process.stdin)
  for (const run of delayed) await run()
}
writeSync(1, `${JSON.stringify({ outcome, ...counts })}\n`)
process.exit()
