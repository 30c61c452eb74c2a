// An application whose page costs next to nothing, to measure the cost of passing a request to it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IncomingMessage, ServerResponse } from 'node:http'

// The command's argument: the folder of the build.
const page = readFileSync(join(process.argv[2] ?? '', 'index.html'))

export default function answerPage(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Length': page.length })
  response.end(page)
}
