// An application that renders for 200 of every 400 milliseconds, as far as its thread can tell.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IncomingMessage, ServerResponse } from 'node:http'

// The command's own argument: the folder of the build.
const page = readFileSync(join(process.argv[2] ?? '', 'index.html'))

setInterval(() => {
  const end = performance.now() + 200
  while (performance.now() < end);
}, 400).unref()

export default function answerPage(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Length': page.length })
  response.end(page)
}
