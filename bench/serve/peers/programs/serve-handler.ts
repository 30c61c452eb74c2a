import { createServer } from 'node:http'
import handler from 'serve-handler'
import { readPeerInput } from './peer-input.ts'

const { directory, port } = readPeerInput()

createServer((request, response) => {
  void handler(request, response, { public: directory, etag: true })
}).listen(port, '127.0.0.1')
