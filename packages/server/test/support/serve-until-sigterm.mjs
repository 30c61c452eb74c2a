// node serve-until-sigterm.mjs <store> <cache>: serves, prints its URL, and closes at SIGTERM. It does not
// exit explicitly.
import { serve } from '../../dist/index.js'

const [store = '', storeCache = ''] = process.argv.slice(2)
const site = { largestBody: 1024, openFiles: 0 }
const server = await serve({ store, storeCache, storeInterval: 50, port: 0, gracePeriod: 100, site })
process.once('SIGTERM', async () => {
  await server.close()
  console.log('closed')
})
console.log(server.url)
