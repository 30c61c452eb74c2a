import type { IncomingMessage, ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'

/** What a page costs, in milliseconds of a blocked event loop. */
const cost = 200

/** An application that computes, as a large synchronous render does. */
export default function render(_request: IncomingMessage, response: ServerResponse): void {
  const end = performance.now() + cost
  while (performance.now() < end);
  response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end('<p>rendered</p>')
}
