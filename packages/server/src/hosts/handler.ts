import type { IncomingMessage, ServerResponse } from 'node:http'
import { notFound } from '../site/answers.ts'
import { decide, decideNotFound, fallbackFor } from '../site/decide.ts'
import { decideUnlistedPath, mayBelongToNewerBuild } from './decide-unlisted-path.ts'
import { type HandlerOptions, openHost } from './handler-options.ts'
import { createRequestFieldsReader } from '../send/read-request-fields.ts'
import { sendAnswer, sendFailure } from '../send/send-answer.ts'
import type { Answer, Site } from '../site/site.ts'
import type { SiteSource } from '../site/site-holder.ts'
import { relocateAnswer } from './relocate-answer.ts'

/**
 * Answers a request. With `next` it is middleware: a path that the site does not know, and a method that
 * it does not answer, are passed on.
 */
export type Handler = (request: IncomingMessage, response: ServerResponse, next?: () => void) => void

/**
 * Makes the handler of a site, for `node:http` as it is and for Connect, Express and Polka as middleware.
 *
 * A request takes nine steps, whose numbers stand here and in `site/decide.ts`:
 *
 * 1. Read the fields that decide the answer (`send/read-request-fields.ts`).
 * 2. Look the path up in the site's table, decoded first where it is written in another way (404, 400).
 * 3. For a path that is not in the table, ask the redirect rules, then the fallback page.
 * 4. Answer methods other than GET and HEAD (OPTIONS, 405).
 * 5. Choose the representation by `Accept-Encoding` (406).
 * 6. Evaluate the preconditions (304, 412).
 * 7. Cut the range (206, 416).
 * 8. Look for an unknown path on the disk, where the operator wants that, and for a hashed file in a newer build
 *    (`decide-unlisted-path.ts`); what is still unknown is the next middleware's.
 * 9. Put the path of the mount before places, send early hints, then head and body (`send/send-answer.ts`).
 *
 * A body in memory is sent without a file-system call, and without an object or a closure made on its way
 * (`allocations.http-test.ts`).
 */
export function createHandler(source: SiteSource, options: HandlerOptions = {}): Handler {
  const { holder, fallback: chosen, fileSystemFallback, mayRefresh, report } = openHost(source, options)
  const readRequestFields = createRequestFieldsReader()

  return function handle(request, response, next) {
    const site = holder.current
    const fallback = fallbackFor(site, next === undefined ? 'standalone' : 'middleware', chosen)

    // 1. The fields.
    const fields = readRequestFields(request)

    // 2. to 7. The decision, a pure function of the site and the fields.
    const answer = decide(site, fields, fileSystemFallback ? undefined : fallback)

    // 8. The disk, a newer build, or the next middleware.
    if (answer === undefined && fileSystemFallback) void answerLater(request, response, next)
    else if (mayRefresh && mayBelongToNewerBuild(site, fields, answer))
      void answerLater(request, response, next)
    else if (answer === undefined && next === undefined)
      finish(request, response, decideNotFound(site, fields, fallback))
    else finish(request, response, answer, next)
  }

  function finish(
    request: IncomingMessage,
    response: ServerResponse,
    answer: Answer | undefined,
    next?: () => void,
  ): void {
    if (next !== undefined && (answer === undefined || answer.status === 405)) {
      next()
      return
    }

    // 9. The answer.
    const sent = relocateAnswer(answer ?? notFound, request)
    if (sent.earlyHints !== undefined && mayHint(holder.current, response)) {
      response.writeEarlyHints({ link: [...sent.earlyHints] })
    }
    sendAnswer(response, sent, report)
  }

  async function answerLater(
    request: IncomingMessage,
    response: ServerResponse,
    next?: () => void,
  ): Promise<void> {
    const fields = { ...readRequestFields(request) }
    try {
      const role = next === undefined ? 'standalone' : 'middleware'
      const answer = await decideUnlistedPath(holder, fields, { role, fallback: chosen, fileSystemFallback })
      const site = holder.current
      const last =
        next === undefined ? decideNotFound(site, fields, fallbackFor(site, role, chosen)) : undefined
      finish(request, response, answer ?? last, next)
    } catch (error) {
      sendFailure(response, error, report)
    }
  }
}

/**
 * RFC 8297 §3: before HTTP/2 a 103 may be taken for the answer, so it has to be asked for. Behind an answer
 * under way, which has the socket, Node would put it between the head and the body of its own answer.
 */
function mayHint(site: Site, response: ServerResponse): boolean {
  const { method, httpVersionMajor, httpVersionMinor } = response.req
  if (method !== 'GET') return false
  return httpVersionMajor > 1 || (site.earlyHints && httpVersionMinor > 0 && response.socket !== null)
}
