import { createServer } from 'node:http'
import sirv from 'sirv'
import { readPeerInput } from './peer-input.ts'

const { directory, port } = readPeerInput()
const handle = sirv(directory, { etag: true, gzip: true, brotli: true, maxAge: 31_536_000, immutable: true })

createServer((request, response) => {
  handle(request, response, () => {
    response.statusCode = 404
    response.end()
  })
}).listen(port, '127.0.0.1')
