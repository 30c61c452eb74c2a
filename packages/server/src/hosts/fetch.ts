import { fieldPairs } from '../protocol/field-pairs.ts'
import { failedAnswer } from '../site/answers.ts'
import { decide, fallbackFor } from '../site/decide.ts'
import { decideUnlistedPath, mayBelongToNewerBuild } from './decide-unlisted-path.ts'
import { type FileLease, leaseFile } from '../files/kept-file.ts'
import { type HandlerOptions, openHost } from './handler-options.ts'
import type { RequestFields } from '../protocol/request-fields.ts'
import type { Answer } from '../site/site.ts'
import type { SiteSource } from '../site/site-holder.ts'
import type { FileContent } from '../files/stored-file.ts'

/**
 * Answers a `Request` with a `Response`. `undefined` means that the path is unknown or the method not
 * ours: somebody else may answer, else it is a 404 (or 405).
 */
export type FetchHandler = (request: Request) => Response | undefined | Promise<Response | undefined>

/**
 * Makes the handler of a site for hosts that speak `fetch`: Hono, h3, srvx, Bun, Deno. Bodies in memory
 * are answered at once, without anything of Node; streamed ones through `node:fs`, which all of them have.
 *
 * As others may stand behind it, a navigation to an unknown path gets the site's page only with
 * `fallback: 'spa'` (or a rule of the site).
 */
export function createFetchHandler(source: SiteSource, options: HandlerOptions = {}): FetchHandler {
  const { holder, fallback: chosen, fileSystemFallback, mayRefresh, report } = openHost(source, options)

  return function handle(request) {
    const site = holder.current
    // The nine steps of `handler.ts`: 1.
    const fields = readFields(request)
    const fallback = fallbackFor(site, 'middleware', chosen)
    // 2. to 7.
    const answer = decide(site, fields, fileSystemFallback ? undefined : fallback)
    // 9., or 8. before it.
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
    if (answer === undefined || answer.status === 405) return undefined
    const { content } = answer
    if (content.kind === 'none' || method === 'HEAD') return toResponse(answer, null)
    if (content.kind === 'memory') return toResponse(answer, content.bytes)
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

/** A file that is gone or another one is a clean error: its body was not begun. */
function refuse(error: unknown): Response {
  const answer = failedAnswer(error instanceof Error && 'status' in error ? error.status : 500)
  return toResponse(answer, answer.content.kind === 'memory' ? answer.content.bytes : null)
}

/** Leases of bodies that nobody ever reads: no host tells that it has dropped a response. */
const unread = new FinalizationRegistry<FileLease>((lease) => lease.release())

async function openBody(content: FileContent): Promise<ReadableStream<Uint8Array>> {
  const { stored } = content
  // Before anything is waited for: the site that decided may be retired meanwhile.
  const lease = leaseFile(stored)
  const { openStored, readRange } = await import('../files/stored-file.ts')
  try {
    // Without a lease the first read opens the file again: nobody may ever read, and an open file would stay open.
    await (await openStored(stored, lease)).close()
  } catch (error) {
    lease?.release()
    throw error
  }
  const chunks = readFile()
  // Alive for as long as anybody can still read.
  if (lease !== undefined) unread.register(chunks, lease)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          // The host then cuts the connection, so that a part is never taken for the whole.
          controller.error(error)
        }
      },
      async cancel() {
        await chunks.return(undefined)
        // A generator that never began does not run its `finally`.
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
  // A look at a field costs, and few requests have these.
  const offered = /dc[bz]/i.test(acceptEncoding ?? '') ? field('available-dictionary') : undefined
  return {
    method,
    // A target has no fragment; the URL of a Request may.
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
