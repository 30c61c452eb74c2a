import { sendAnswer } from '../send/send-answer.ts'
import { healthy, onlyReads, textAnswer } from '../site/answers.ts'
import { isHealthPath } from '../site/is-health-path.ts'
import type { SiteHolder } from '../site/site-holder.ts'
import type { RequestListener } from '../transport/transport.ts'

const stopping = textAnswer(503, 'stopping\n')

/**
 * Answers health checks before the access log, the check of the host and all other handlers.
 *
 * @param isStopping - returns whether the server accepts no more connections.
 */
export function answerHealth(
  listener: RequestListener,
  holder: SiteHolder,
  isStopping: () => boolean,
): RequestListener {
  return (request, response) => {
    if (!isHealthPath(holder.current, request.url ?? '')) listener(request, response)
    else if (request.method !== 'GET' && request.method !== 'HEAD') sendAnswer(response, onlyReads)
    else sendAnswer(response, isStopping() ? stopping : healthy)
  }
}
