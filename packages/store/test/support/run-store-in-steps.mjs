// Started by fork(): runs a command, and asks before and after each method of the store whether it may continue.
import { openStore, prune, publish, purge, rollback } from '@serve-dist/store'
import { interceptStore } from './intercept-store.mjs'

/** @typedef {{ run: 'publish' | 'prune' | 'purge' | 'rollback', where: string, what?: any, options?: any }} Command */

let asked = 0
/** @type {Map<number, () => void>} */
const waiting = new Map()

/** @param {string} verb */
async function step(verb) {
  const number = (asked += 1)
  const answered = new Promise((resolve) => waiting.set(number, () => resolve(undefined)))
  process.send?.({ step: number, verb })
  await answered
}

/** @param {Command} command */
async function runCommand({ run, where, what, options }) {
  const stepping = interceptStore(await openStore(where), step)
  if (run === 'publish') return await publish(what, stepping, options)
  if (run === 'prune') return await prune(stepping, what, options)
  if (run === 'purge') return await purge(stepping, what, options)
  return await rollback(stepping, options)
}

process.on('message', (/** @type {Command | { go: number }} */ message) => {
  if ('go' in message) {
    waiting.get(message.go)?.()
    waiting.delete(message.go)
    return
  }
  runCommand(message).then(
    (summary) => process.send?.({ done: 'well', summary }),
    (error) => process.send?.({ done: error.code ?? String(error.stack), message: error.message }),
  )
})
