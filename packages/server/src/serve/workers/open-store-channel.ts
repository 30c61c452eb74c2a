import { OperatorError } from '@serve-dist/manifest'
import type { SendStoreRequest } from '../../mirror/share-mirror.ts'
import { isPrimaryMessage, type PrimaryReply, sendToPrimary } from './worker-messages.ts'

/**
 * Lets a worker access the store through its primary process. Errors of the primary process are thrown
 * here.
 */
export function openStoreChannel(): SendStoreRequest {
  const waiting = new Map<number, (reply: PrimaryReply['reply']) => void>()
  let asked = 0
  process.on('message', (message: unknown) => {
    if (!isPrimaryMessage(message) || message.type !== 'serve-dist:reply') return
    waiting.get(message.number)?.(message.reply)
    waiting.delete(message.number)
  })
  return async (question) => {
    asked += 1
    const number = asked
    const replied = new Promise<PrimaryReply['reply']>((resolve) => waiting.set(number, resolve))
    await sendToPrimary({ type: 'serve-dist:ask', number, question })
    const reply = await replied
    if ('code' in reply) throw new OperatorError(reply.code, reply.problems)
    return reply
  }
}
