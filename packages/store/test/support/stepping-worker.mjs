// Run by fork(): does what it is told with a store, and asks before and after each verb whether it may go on.
import { openStore, prune, publish, purge, rollback } from '@serve-dist/store'

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
async function obey({ run, where, what, options }) {
  const store = await openStore(where)
  /** @type {import('@serve-dist/store').StoreBackend} */
  const stepping = {
    ...store,
    async read(key, more) {
      await step(`read ${key}`)
      const answer = await store.read(key, more)
      await step('has read')
      return answer
    },
    async *list(prefix) {
      await step(`list ${prefix}`)
      yield* store.list(prefix)
      await step('has listed')
    },
    async put(key, content, more) {
      await step(`put ${key}`)
      const answer = await store.put(key, content, more)
      await step('has put')
      return answer
    },
    async delete(key) {
      await step(`delete ${key}`)
      await store.delete(key)
      await step('has deleted')
    },
  }
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
  obey(message).then(
    (summary) => process.send?.({ done: 'well', summary }),
    (error) => process.send?.({ done: error.code ?? String(error.stack), message: error.message }),
  )
})
