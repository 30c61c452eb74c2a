// A minimal `node:http` server that sends our fields. The difference from it is the cost of our code.
import { createServer } from 'node:http'
import { readConstantAnswers } from './constant-answers.ts'
import { readPeerInput } from './peer-input.ts'

const { directory, port, accept } = readPeerInput()
const answers = new Map(
  Array.from(await readConstantAnswers(directory, accept), ([path, { ok, notModified, body }]) => {
    return [path, { ok: ok.flat(), notModified: notModified.flat(), body }]
  }),
)

createServer((request, response) => {
  const answer = answers.get(request.url ?? '')
  if (answer === undefined) {
    response.writeHead(404)
    response.end()
  } else if (request.headers['if-none-match'] ?? request.headers['if-modified-since']) {
    response.writeHead(304, answer.notModified)
    response.end()
  } else {
    response.writeHead(200, answer.ok)
    response.end(answer.body)
  }
}).listen(port, '127.0.0.1')
