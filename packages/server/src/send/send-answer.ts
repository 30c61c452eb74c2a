import { fieldPairs } from '../protocol/field-pairs.ts'
import { ServerResponse } from 'node:http'
import { failedAnswer } from '../site/answers.ts'
import { isFreshnessField } from '../site/representation-answers.ts'
import { extendVary } from '../protocol/field-list.ts'
import { hasOriginalMethods, observationOf } from './observation.ts'
import { sendFile } from './send-file.ts'
import type { Answer } from '../site/site.ts'
import { type FileContent, StoredFileError } from '../files/stored-file.ts'

/**
 * Sends an answer over HTTP/1.1 or HTTP/2: the one place where an `Answer` becomes a response.
 *
 * @param report - called with each file that vanished or changed, and with whatever else fails.
 */
export function sendAnswer(
  response: ServerResponse,
  answer: Answer,
  report?: (problem: Error) => void,
): void {
  const { content } = answer
  if (content.kind === 'none' || response.req.method === 'HEAD') {
    writeHead(response, answer)
    response.end()
  } else if (content.kind === 'memory') {
    writeHead(response, answer)
    response.end(content.bytes)
  } else {
    streamFile(response, { answer, content }, report)
  }
}

/** Answers a request that failed: before the head with a clean error, after it by cutting the connection. */
export function sendFailure(
  response: ServerResponse,
  error: unknown,
  report?: (problem: Error) => void,
): void {
  if (response.headersSent) {
    response.destroy()
    // A client that goes away in mid-body is no problem of ours.
    if (error instanceof StoredFileError) report?.(error)
    return
  }
  report?.(error instanceof Error ? error : new Error(String(error)))
  sendAnswer(response, failedAnswer(error instanceof StoredFileError ? error.status : 500))
}

/** By itself: what its closures keep would be allocated for every answer. */
function streamFile(
  response: ServerResponse,
  { answer, content }: { readonly answer: Answer; readonly content: FileContent },
  report?: (problem: Error) => void,
): void {
  sendFile(response, content, () => writeHead(response, answer)).catch((error: unknown) =>
    sendFailure(response, error, report),
  )
}

/**
 * Writes an answer's status and fields. The prebuilt list goes to Node as it is, unless somebody before
 * us has set fields or wrapped the response (compression, session and logging middleware do): then each
 * field is set by name, so that it replaces one of the same name, `Vary` is extended, and what describes
 * another body than ours is taken away.
 */
function writeHead(response: ServerResponse, answer: Answer): void {
  if (isUntouched(response)) {
    writeList(response, answer)
    return
  }
  const noted = observationOf(response)
  if (noted !== undefined) {
    noted.answer = answer
    if (hasOriginalMethods(response) && hasNoFields(response)) {
      writeList(response, answer)
      return
    }
  }
  const { status } = answer
  if (response.getHeaderNames().length > 0) {
    for (const name of status === 304 ? ofNoBody : ofOneBody) response.removeHeader(name)
    // No CDN stores an error, though somebody may want that for all of his own answers.
    const kept = status < 400 ? [] : response.getHeaderNames().filter(isFreshnessField)
    for (const name of kept) response.removeHeader(name)
  }
  for (const [name, value] of fieldPairs(answer)) {
    response.setHeader(
      name,
      isVary(name) ? extendVary(String(response.getHeader('Vary') ?? ''), value) : value,
    )
  }
  if (mayBeEncoded(response, answer)) forbidEncoding(response)
  response.writeHead(status)
}

/** Fields that tell of one body, which is ours or none. */
const ofOneBody = [
  'Accept-Ranges',
  'Content-Encoding',
  'Content-Length',
  'Content-Range',
  'Content-Type',
  'ETag',
  'Last-Modified',
]
/** What a 304 has none of either (RFC 9110 §15.4.5), though somebody may set it for all bodies. */
const ofNoBody = [...ofOneBody, 'Content-Disposition', 'Content-Language', 'Content-Location']

function isVary(name: string): boolean {
  return name.length === 4 && name.toLowerCase() === 'vary'
}

/**
 * Whether somebody before us would encode bytes under a strong entity tag of other bytes, or a range of
 * them: `compression()` and its like, which leave a `flush` at the response.
 */
function mayBeEncoded(response: ServerResponse, { status, fields }: Answer): boolean {
  if (!('flush' in response) || status === 304) return false
  return names(fields, 'ETag') && !names(fields, 'Content-Encoding')
}

/** Whether a field has this name: values may be names, too (`Access-Control-Expose-Headers`). */
function names(fields: readonly string[], name: string): boolean {
  return fields.some((text, index) => text === name && index % 2 === 0)
}

/** RFC 9111 §5.2.2.6. */
function forbidEncoding(response: ServerResponse): void {
  const directives = response.getHeader('Cache-Control')?.toString()
  response.setHeader(
    'Cache-Control',
    directives === undefined ? 'no-transform' : `${directives}, no-transform`,
  )
}

function writeList(response: ServerResponse, { status, fields }: Answer): void {
  // Node only reads the list, though its types ask for one that it may change.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  response.writeHead(status, fields as string[])
}

function isUntouched(response: ServerResponse): boolean {
  return response.writeHead === ServerResponse.prototype.writeHead && hasNoFields(response)
}

/** HTTP/2 takes no flat lists. */
function hasNoFields(response: ServerResponse): boolean {
  return response instanceof ServerResponse && response.getHeaderNames().length === 0
}
