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
 * Sends an answer over HTTP/1.1 or HTTP/2. Only this function turns an `Answer` into a response.
 *
 * @param report - called with each file that was deleted or changed, and with any other error.
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
  } else if (content.kind === 'proxied') {
    sendFailure(response, new Error(`${content.rule.from}: this host cannot forward requests`), report)
  } else {
    streamFile(response, { answer, content }, report)
  }
}

/** Ends a failed request: with an error status before the head, by closing the connection after it. */
export function sendFailure(
  response: ServerResponse,
  error: unknown,
  report?: (problem: Error) => void,
): void {
  if (response.headersSent) {
    response.destroy()
    // A client that disconnects during the body is not a problem of the server.
    if (error instanceof StoredFileError) report?.(error)
    return
  }
  report?.(error instanceof Error ? error : new Error(String(error)))
  sendAnswer(response, failedAnswer(error instanceof StoredFileError ? error.status : 500))
}

/** A separate function, because its closures would otherwise be allocated for every answer. */
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
 * Writes the status and the fields of an answer. The prebuilt list goes directly to Node, unless middleware
 * has set fields or wrapped the response (compression, sessions, logging). Then each field is set by name
 * and replaces one with the same name. `Vary` is extended, and fields of another body are removed.
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
    // Errors must not be stored by a CDN, even if middleware permits it for all answers.
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

/** Fields that describe a specific body. */
const ofOneBody = [
  'Accept-Ranges',
  'Content-Encoding',
  'Content-Length',
  'Content-Range',
  'Content-Type',
  'ETag',
  'Last-Modified',
]
/** Fields that a 304 must not contain (RFC 9110 §15.4.5), although middleware may set them. */
const ofNoBody = [...ofOneBody, 'Content-Disposition', 'Content-Language', 'Content-Location']

function isVary(name: string): boolean {
  return name.length === 4 && name.toLowerCase() === 'vary'
}

/**
 * Returns whether middleware would encode bytes whose strong entity tag or range describes other bytes.
 * Middleware such as `compression()` adds `flush` to the response.
 */
function mayBeEncoded(response: ServerResponse, { status, fields }: Answer): boolean {
  if (!('flush' in response) || status === 304) return false
  return names(fields, 'ETag') && !names(fields, 'Content-Encoding')
}

/** Checks only names, because values may be names (`Access-Control-Expose-Headers`). */
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
  // Node only reads the list, although its types require a mutable one.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  response.writeHead(status, fields as string[])
}

function isUntouched(response: ServerResponse): boolean {
  return response.writeHead === ServerResponse.prototype.writeHead && hasNoFields(response)
}

/** HTTP/2 does not accept flat lists. */
function hasNoFields(response: ServerResponse): boolean {
  return response instanceof ServerResponse && response.getHeaderNames().length === 0
}
