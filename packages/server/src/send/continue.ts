import type { ServerResponse } from 'node:http'
import { runWhenWritable } from './run-when-writable.ts'

/** Responses whose clients wait for a 100 before they send the body (RFC 9110 §10.1.1). */
const waiting = new WeakMap<ServerResponse, () => void>()

/** Lets the handler of a request send the 100. Without it, the client gets only the final answer. */
export function offerContinue(response: ServerResponse, act: () => void): void {
  waiting.set(response, act)
}

/** Sends the 100 if the client waits for it, then calls `next`. */
export function sendContinue(response: ServerResponse, next: () => void = () => {}): void {
  const act = waiting.get(response)
  if (act === undefined) {
    next()
    return
  }
  waiting.delete(response)
  // While another answer uses the socket, Node would write the 100 into the body of that answer.
  runWhenWritable(response, () => {
    act()
    next()
  })
}
