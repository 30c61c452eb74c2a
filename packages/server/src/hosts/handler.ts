import type { IncomingMessage, ServerResponse } from 'node:http'
import { methodNotAllowed, notFound } from '../site/answers.ts'
import { decide, decideNotFound, fallbackFor, type HostRole } from '../site/decide.ts'
import { decideUnlistedPath, mayBelongToNewerBuild } from './decide-unlisted-path.ts'
import { type HandlerOptions, openHost } from './handler-options.ts'
import type { Forward } from '../proxy/forward.ts'
import { createRequestFieldsReader } from '../send/read-request-fields.ts'
import { sendAnswer, sendFailure } from '../send/send-answer.ts'
import type { Answer, Site } from '../site/site.ts'
import { siteFor } from '../site/select-part.ts'
import type { SiteHolder, SiteSource } from '../site/site-holder.ts'
import { relocateAnswer } from './relocate-answer.ts'

/**
 * Answers a request. With `next` it is middleware: it passes on unknown paths and methods that it does not
 * answer.
 */
export type Handler = (request: IncomingMessage, response: ServerResponse, next?: () => void) => void

/**
 * Creates the handler of a site for `node:http`, or middleware for Connect, Express and Polka.
 *
 * A request takes nine steps. `site/decide.ts` uses the same numbers:
 *
 * 1. Read the fields that affect the answer (`send/read-request-fields.ts`).
 * 2. Look the path up in the table; decode it first if needed (404, 400).
 * 3. For an unknown path, try the redirect rules, then the fallback page.
 * 4. Answer methods other than GET and HEAD (OPTIONS, 405).
 * 5. Choose the representation by `Accept-Encoding` (406).
 * 6. Evaluate the preconditions (304, 412).
 * 7. Select the range (206, 416).
 * 8. Look for an unknown path on the disk, if enabled, and for a hashed file in a newer build
 *   (`decide-unlisted-path.ts`). Then pass it to the next middleware.
 * 9. Prefix locations with the mount path, send early hints, then head and body (`send/send-answer.ts`).
 *
 * A body in memory costs no file-system call, no object and no closure (`allocations.http-test.ts`).
 *
 * @param forward - absent for hosts that cannot proxy.
 */
export function createHandler(source: SiteSource, options: HandlerOptions = {}, forward?: Forward): Handler {
  return createHandlerFor(undefined, source, options, forward)
}

/** @param givenRole - the default depends on whether the caller passes `next`. */
export function createHandlerFor(
  givenRole: HostRole | undefined,
  source: SiteSource,
  options: HandlerOptions,
  forward?: Forward,
): Handler {
  const host = openHost(source, options, forward !== undefined)
  const { holder, fallback: chosen, fileSystemFallback, mayRefresh, report } = host
  const readRequestFields = createRequestFieldsReader()

  return function handle(request, response, next) {
    const site = siteFor(holder.current, request.url ?? '')
    const fallback = fallbackFor(site, roleOf(next), chosen)

    // Step 1.
    const fields = readRequestFields(request)

    // Steps 2 to 7.
    const answer = decide(site, fields, fileSystemFallback ? undefined : fallback)

    // Step 8.
    if (answer === undefined && fileSystemFallback) void answerLater(request, response, next)
    else if (mayRefresh && mayBelongToNewerBuild(site, fields, answer))
      void answerLater(request, response, next)
    else if (answer === undefined && next === undefined)
      finish(request, response, decideNotFound(site, fields, fallback))
    else finish(request, response, answer, next)
  }

  function roleOf(next: (() => void) | undefined): HostRole {
    return givenRole ?? (next === undefined ? 'standalone' : 'middleware')
  }

  function finish(
    request: IncomingMessage,
    response: ServerResponse,
    answer: Answer | undefined,
    next?: () => void,
  ): void {
    if (next !== undefined && (answer === undefined || answer === methodNotAllowed)) {
      next()
      return
    }

    // Step 9.
    if (answer?.content.kind === 'proxied' && forward !== undefined) {
      forward(request, response, answer.content)
      return
    }
    const sent = relocateAnswer(answer ?? notFound, request)
    if (sent.earlyHints !== undefined && mayHint(siteFor(holder.current, request.url ?? ''), response)) {
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
      const role = roleOf(next)
      // Each part of a site has a folder of its own.
      const part: SiteHolder = {
        get current() {
          return siteFor(holder.current, fields.target)
        },
        ...(holder.refreshForMissingAsset && {
          refreshForMissingAsset: async () => await holder.refreshForMissingAsset?.(),
        }),
      }
      const answer = await decideUnlistedPath(part, fields, { role, fallback: chosen, fileSystemFallback })
      const site = part.current
      const last =
        next === undefined ? decideNotFound(site, fields, fallbackFor(site, role, chosen)) : undefined
      finish(request, response, answer ?? last, next)
    } catch (error) {
      sendFailure(response, error, report)
    }
  }
}

/**
 * RFC 8297 §3: clients before HTTP/2 may mistake a 103 for the answer, hence the option. While another
 * answer uses the socket, Node would write the 103 into the body of that answer.
 */
function mayHint(site: Site, response: ServerResponse): boolean {
  const { method, httpVersionMajor, httpVersionMinor } = response.req
  if (method !== 'GET') return false
  return httpVersionMajor > 1 || (site.earlyHints && httpVersionMinor > 0 && response.socket !== null)
}
