// A bare `node:http2` server for h2spec: `bare-http2.mjs <cert> <key>`.
import { readFileSync } from 'node:fs'
import { createSecureServer } from 'node:http2'

const [certFile = '', keyFile = ''] = process.argv.slice(2)
const body = 'x'.repeat(5000)

const server = createSecureServer(
  { cert: readFileSync(certFile), key: readFileSync(keyFile) },
  (_, response) => {
    response.setHeader('Content-Length', body.length)
    response.end(body)
  },
)
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  console.log(`https://127.0.0.1:${port}/`)
})
