import { createServer } from 'node:http'
import send from 'send'
import { readPeerInput } from './peer-input.ts'

const { directory, port } = readPeerInput()

createServer((request, response) => {
  const path = new URL(request.url ?? '/', 'http://localhost').pathname
  send(request, path, { root: directory, maxAge: '1y', immutable: true }).pipe(response)
}).listen(port, '127.0.0.1')
