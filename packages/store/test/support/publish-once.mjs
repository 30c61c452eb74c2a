// node publish-once.mjs <folder> <where> <options>: publishes and prints the summary or the error code. Prints the
// progress of deltas to stderr.
import { openStore, publish } from '@serve-dist/store'

const [directory = '', where = '', options = '{}'] = process.argv.slice(2)
/** @param {import('@serve-dist/store').DeltaProgress} progress */
const onDelta = (progress) => console.error(JSON.stringify(progress))
try {
  const store = await openStore(where)
  console.log(JSON.stringify(await publish(directory, store, { ...JSON.parse(options), onDelta })))
} catch (error) {
  console.log(JSON.stringify({ code: Object(error).code, message: String(error) }))
}
