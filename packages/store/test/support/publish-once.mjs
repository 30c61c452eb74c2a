// node publish-once.mjs <folder> <where> <options>: publishes, and prints the summary, or the code of the error.
import { openStore, publish } from '@serve-dist/store'

const [directory = '', where = '', options = '{}'] = process.argv.slice(2)
try {
  console.log(JSON.stringify(await publish(directory, await openStore(where), JSON.parse(options))))
} catch (error) {
  console.log(JSON.stringify({ code: Object(error).code, message: String(error) }))
}
