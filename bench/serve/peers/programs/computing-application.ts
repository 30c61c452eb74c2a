// An application whose page computes without a pause. The query has the number of steps, because an amount of time would
// include the engine's thread on the same core. 1,000,000 steps take about three milliseconds.
import type { IncomingMessage, ServerResponse } from 'node:http'
import answerPage from './light-application.ts'

let state = 1

export default function computePage(request: IncomingMessage, response: ServerResponse): void {
  const steps = Number(request.url?.split('?')[1])
  for (let step = 0; step < steps; step += 1) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
  }
  if (state === 0) throw new TypeError('nothing was computed')
  answerPage(request, response)
}
