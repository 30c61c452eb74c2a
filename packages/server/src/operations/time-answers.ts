import type { ServerResponse } from 'node:http'
import type { RequestListener } from '../transport/transport.ts'

/**
 * Adds `Server-Timing` (W3C Server Timing) to each answer: `total` is what lies between the head of the request
 * and the head of its answer, in milliseconds.
 */
export function timeAnswers(listener: RequestListener): RequestListener {
  return (request, response) => {
    const begin = performance.now()
    const writeHead = response.writeHead.bind(response)
    response.writeHead = function writeTimedHead(this: ServerResponse, ...given: readonly unknown[]) {
      if (!this.headersSent) {
        this.appendHeader('Server-Timing', `total;dur=${(performance.now() - begin).toFixed(3)}`)
      }
      Reflect.apply(writeHead, undefined, given)
      return this
    }
    listener(request, response)
  }
}
