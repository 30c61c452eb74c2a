import { bareRefusal } from '../site/answers.ts'
import type { RequestListener, TransportWatcher } from './transport.ts'
import { sendAnswer } from '../send/send-answer.ts'

/**
 * Creates a listener that rejects every request. Over HTTP/1.1 it also closes the connection (RFC 9112
 * §9.6).
 */
export function createRefusingListener(
  status: number,
  watcher: Pick<TransportWatcher, 'watch'> | undefined,
): RequestListener {
  const refusal = bareRefusal(status, ['Connection', 'close'])
  const refuse: RequestListener = (_request, response) => sendAnswer(response, refusal)
  return watcher?.watch(refuse) ?? refuse
}
