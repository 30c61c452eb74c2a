import type { IncomingMessage, ServerResponse } from 'node:http'
import { internalServerError, notFound } from './answers.ts'
import { decide } from './decide.ts'
import { fallbackFor } from './fallback-for.ts'
import { findOnDisk } from './find-on-disk.ts'
import { type HandlerOptions, resolveHandlerOptions } from './handler-options.ts'
import { createRequestFieldsReader } from './read-request-fields.ts'
import { reportOnce } from './report-once.ts'
import { sendFile } from './send-file.ts'
import type { Answer, Site } from './site.ts'
import { type SiteSource, toSiteHolder } from './site-holder.ts'
import { StoredFileError } from './stored-file.ts'
import { writeHead } from './write-head.ts'

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

  return function handle(request, response, next) {
    const site = holder.current
    const fields = readRequestFields(request)
    const fallback = fallbackFor(site, next === undefined ? 'standalone' : 'middleware', told)

    // 1. Decide: a pure function of the table and the request's fields.
    const answer = decide(site, fields, fileSystemFallback ? 'none' : fallback)

    // 2. Look for what the table does not have, where the operator wants that.
    if (answer === undefined && fileSystemFallback) {
      const kept = { ...fields }
      findOnDisk(site, kept)
        // Another build may have been swapped in meanwhile.
        .then((found) =>
          finish(
            holder.current,
            { request, response, next },
            found ?? decide(holder.current, kept, fallback),
          ),
        )
        .catch((error: unknown) => recover(request, response, error, report))
      return
    }
    finish(site, { request, response, next }, answer)
  }

  function finish(site: Site, { request, response, next }: Exchange, answer: Answer | undefined): void {
    // 3. Pass on what is not ours.
    if (next !== undefined && (answer === undefined || answer.status === 405)) {
      next()
      return
    }

    // 4. Hint, then send.
    if (answer?.earlyHints !== undefined && mayHint(site, request)) {
      response.writeEarlyHints({ link: [...answer.earlyHints] })
    }
    send(request, response, answer ?? notFound, report)
  }
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly next: (() => void) | undefined
}

/** RFC 8297 §3: before HTTP/2 a 103 may be taken for the answer, so it has to be asked for. */
function mayHint(site: Site, { method, httpVersionMajor, httpVersionMinor }: IncomingMessage): boolean {
  if (method !== 'GET') return false
  return httpVersionMajor > 1 || (site.earlyHints && httpVersionMinor > 0)
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  report: (problem: Error) => void,
): void {
  const { content } = answer
  if (content.kind === 'none' || request.method === 'HEAD') {
    writeHead(response, answer)
    response.end()
  } else if (content.kind === 'memory') {
    writeHead(response, answer)
    response.end(content.bytes)
  } else {
    sendFile(response, content, () => writeHead(response, answer)).catch((error: unknown) => {
      recover(request, response, error, report)
    })
  }
}

/** Before the head, a streamed body that fails is a clean error; after it, a destroyed socket. */
function recover(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  report: (problem: Error) => void,
): void {
  // A client that goes away in mid-body is no problem of ours.
  if (response.headersSent) {
    response.destroy()
    if (error instanceof StoredFileError) report(error)
    return
  }
  report(error instanceof Error ? error : new Error(String(error)))
  const status = error instanceof StoredFileError ? error.status : 500
  send(request, response, status === 404 ? notFound : internalServerError, report)
}
