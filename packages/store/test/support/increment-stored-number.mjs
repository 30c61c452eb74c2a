// node increment-stored-number.mjs <folder> <times>: increments the number in current.json and prints each written
// number.
import { text } from 'node:stream/consumers'
import { openStore } from '@serve-dist/store'

const [folder = '', times] = process.argv.slice(2)
const store = await openStore(folder)
for (let written = 0; written < Number(times);) {
  const object = await store.read('current.json')
  if (object === 'unchanged') throw new Error('unexpected answer to an unconditional read')
  const number = object === undefined ? 0 : Number(await text(object.body))
  const outcome = await store.put('current.json', Buffer.from(String(number + 1)), {
    replaces: object?.version ?? null,
  })
  if (outcome === 'conflict') continue
  written += 1
  console.log(number + 1)
}
