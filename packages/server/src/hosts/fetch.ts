import { fieldPairs } from '../protocol/field-pairs.ts'
import { failedAnswer, methodNotAllowed } from '../site/answers.ts'
import { decide, fallbackFor } from '../site/decide.ts'
import { decideUnlistedPath, mayBelongToNewerBuild } from './decide-unlisted-path.ts'
import { type FileLease, leaseFile } from '../files/kept-file.ts'
import { type HandlerOptions, openHost } from './handler-options.ts'
import type { RequestFields } from '../protocol/request-fields.ts'
import type { Answer } from '../site/site.ts'
import type { SiteSource } from '../site/site-holder.ts'
import type { FileContent } from '../files/stored-file.ts'

/**
 * Answers a `Request`. `undefined` means that the path is unknown or the method is not allowed. The next
 * handler may answer; otherwise send 404 (or 405).
 */
export type FetchHandler = (request: Request) => Response | undefined | Promise<Response | undefined>

/**
 * Creates the handler of a site for hosts with the `fetch` API: Hono, h3, srvx, Bun, Deno. It answers
 * bodies in memory synchronously and without modules of Node. It streams other bodies with `node:fs`, which
 * all of these hosts have.
 *
 * Other handlers may follow. A navigation to an unknown path therefore gets the page of the application
 * only with `fallback: 'spa'` or a rule of the site.
 */
export function createFetchHandler(source: SiteSource, options: HandlerOptions = {}): FetchHandler {
  const { holder, fallback: chosen, fileSystemFallback, mayRefresh, report } = openHost(source, options)

  return function handle(request) {
    const site = holder.current
    // Step 1 of the nine steps of `handler.ts`.
    const fields = readFields(request)
    const fallback = fallbackFor(site, 'middleware', chosen)
    // Steps 2 to 7.
    const answer = decide(site, fields, fileSystemFallback ? undefined : fallback)
    // Step 9, or step 8 before it.
    const isOnDisk = answer === undefined && fileSystemFallback
    if (!isOnDisk && !(mayRefresh && mayBelongToNewerBuild(site, fields, answer)))
      return respond(fields, answer)
    return decideUnlistedPath(holder, fields, {
      role: 'middleware',
      fallback: chosen,
      fileSystemFallback,
    }).then(async (later) => await respond(fields, later))
  }

  function respond(
    { method }: RequestFields,
    answer: Answer | undefined,
  ): Response | undefined | Promise<Response> {
    if (answer === undefined || answer === methodNotAllowed) return undefined
    const { content } = answer
    if (content.kind === 'none' || method === 'HEAD') return toResponse(answer, null)
    if (content.kind === 'memory') return toResponse(answer, content.bytes)
    if (content.kind === 'proxied') return refuse(undefined)
    return openBody(content).then(
      (body) => toResponse(answer, body),
      (error: unknown) => {
        report(error instanceof Error ? error : new Error(String(error)))
        return refuse(error)
      },
    )
  }
}

function toResponse(answer: Answer, body: Uint8Array<ArrayBuffer> | ReadableStream | null): Response {
  const headers = new Headers()
  for (const [name, value] of fieldPairs(answer)) headers.append(name, value)
  return new Response(body, { status: answer.status, headers })
}

/** Returns an error for a file that is missing or changed, before its body starts. */
function refuse(error: unknown): Response {
  const answer = failedAnswer(error instanceof Error && 'status' in error ? error.status : 500)
  return toResponse(answer, answer.content.kind === 'memory' ? answer.content.bytes : null)
}

/** Releases the leases of bodies that are never read, because hosts do not report dropped responses. */
const unread = new FinalizationRegistry<FileLease>((lease) => lease.release())

async function openBody(content: FileContent): Promise<ReadableStream<Uint8Array>> {
  const { stored } = content
  // Lease before the first `await`: another site may become current then.
  const lease = leaseFile(stored)
  const { openStored, readRange } = await import('../files/stored-file.ts')
  try {
    // Without a lease, close the file until the first read, because the body may never be read.
    await (await openStored(stored, lease)).close()
  } catch (error) {
    lease?.release()
    throw error
  }
  const chunks = readFile()
  // `chunks` is alive as long as the body can be read.
  if (lease !== undefined) unread.register(chunks, lease)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          // The host then aborts the connection, so that clients detect the incomplete body.
          controller.error(error)
        }
      },
      async cancel() {
        await chunks.return(undefined)
        // A generator that was not started does not run its `finally`.
        lease?.release()
      },
    },
    { highWaterMark: 0 },
  )

  async function* readFile(): AsyncGenerator<Uint8Array, undefined> {
    try {
      const file = await openStored(stored, lease)
      try {
        yield* readRange(file, content)
      } finally {
        await file.close()
      }
    } finally {
      lease?.release()
    }
    return undefined
  }
}

function readFields({ method, url, headers }: Request): RequestFields {
  const field = (name: string): string | undefined => headers.get(name) ?? undefined
  const path = url.indexOf('/', url.indexOf('://') + 3)
  const acceptEncoding = field('accept-encoding')
  // Reading a field is slow, and few requests have these fields.
  const offered = /dc[bz]/i.test(acceptEncoding ?? '') ? field('available-dictionary') : undefined
  return {
    method,
    // The URL of a `Request` may have a fragment, unlike a request target.
    target: path === -1 ? '/' : url.slice(path).replace(/#.*/s, ''),
    accept: field('accept'),
    acceptEncoding,
    ifMatch: field('if-match'),
    ifModifiedSince: field('if-modified-since'),
    ifNoneMatch: field('if-none-match'),
    ifRange: field('if-range'),
    ifUnmodifiedSince: field('if-unmodified-since'),
    range: field('range'),
    secFetchMode: field('sec-fetch-mode'),
    availableDictionary: offered,
    secFetchSite: offered === undefined ? undefined : field('sec-fetch-site'),
    origin: offered === undefined ? undefined : field('origin'),
  }
}
