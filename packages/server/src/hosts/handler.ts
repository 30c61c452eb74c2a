import type { IncomingMessage, ServerResponse } from 'node:http'
import { notFound } from '../site/answers.ts'
import { decide, fallbackFor } from '../site/decide.ts'
import { findOnDisk } from './find-on-disk.ts'
import { type HandlerOptions, resolveHandlerOptions } from './handler-options.ts'
import { createRequestFieldsReader } from '../send/read-request-fields.ts'
import { sendAnswer, sendFailure } from '../send/send-answer.ts'
import { reportOnce } from './report-once.ts'
import { type Answer, type Site, type SiteSource, toSiteHolder } from '../site/site.ts'
import { underMount } from './under-mount.ts'

/**
 * Answers a request. With `next` it is middleware: a path that the site does not know, and a method that
 * it does not answer, are passed on.
 */
export type Handler = (request: IncomingMessage, response: ServerResponse, next?: () => void) => void

/**
 * Makes the handler of a site, for `node:http` as it is and for Connect, Express and Polka as middleware.
 *
 * A request costs one look-up in the site's table; a body in memory is sent without a file-system call.
 */
export function createHandler(source: SiteSource, options: HandlerOptions = {}): Handler {
  const { fallback: told, fileSystemFallback, onProblem } = resolveHandlerOptions(options)
  const holder = toSiteHolder(source)
  const readRequestFields = createRequestFieldsReader()
  const report = reportOnce(onProblem)

  // No closure and no object is made on the way of a body in memory (`allocations.http-test.ts`).
  return function handle(request, response, next) {
    const site = holder.current
    const fallback = fallbackFor(site, next === undefined ? 'standalone' : 'middleware', told)

    // 1. Decide: a pure function of the table and the request's fields.
    const answer = decide(site, readRequestFields(request), fileSystemFallback ? undefined : fallback)

    // 2. Look for what the table does not have, where the operator wants that.
    if (answer === undefined && fileSystemFallback) void answerFromDisk(request, response, next)
    else finish(request, response, answer, next)
  }

  function finish(
    request: IncomingMessage,
    response: ServerResponse,
    answer: Answer | undefined,
    next?: () => void,
  ): void {
    // 3. Pass on what is not ours.
    if (next !== undefined && (answer === undefined || answer.status === 405)) {
      next()
      return
    }

    // 4. Hint, then send.
    const sent = underMount(answer ?? notFound, request)
    if (sent.earlyHints !== undefined && mayHint(holder.current, response)) {
      response.writeEarlyHints({ link: [...sent.earlyHints] })
    }
    sendAnswer(response, sent, report)
  }

  async function answerFromDisk(
    request: IncomingMessage,
    response: ServerResponse,
    next?: () => void,
  ): Promise<void> {
    const fields = { ...readRequestFields(request) }
    try {
      const found = await findOnDisk(holder.current, fields)
      // Another build may have been swapped in meanwhile.
      const site = holder.current
      const fallback = fallbackFor(site, next === undefined ? 'standalone' : 'middleware', told)
      finish(request, response, found ?? decide(site, fields, fallback), next)
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
