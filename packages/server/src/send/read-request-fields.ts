import type { IncomingMessage } from 'node:http'
import { equalsIgnoringCase } from '../protocol/request-head.ts'
import { noRequestFields, type RequestFields } from '../protocol/request-fields.ts'

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] }

/**
 * Creates a reader of Node's requests. It returns the same object each time, which is valid until the next
 * call.
 *
 * It reads the raw list because Node's `headers` would build an object of all fields. The lengths of names
 * exclude most other fields.
 */
export function createRequestFieldsReader(): (
  message: Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders'>,
) => RequestFields {
  const request: Writable<RequestFields> = { ...noRequestFields }
  return (message) => {
    clear(request)
    request.method = message.method ?? ''
    request.target = message.url ?? ''
    const { rawHeaders } = message
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      const name = rawHeaders[index] ?? ''
      const value = rawHeaders[index + 1] ?? ''
      readField(request, name, value)
    }
    if (request.availableDictionary !== undefined) readOrigin(request, rawHeaders)
    return request
  }
}

/** Of fields with a single value, the first line counts, as in Node. */
function readField(request: Writable<RequestFields>, name: string, value: string): void {
  switch (name.length) {
    case 5:
      if (equalsIgnoringCase(name, 'range')) request.range = joined(request.range, value)
      break
    case 6:
      if (equalsIgnoringCase(name, 'accept')) request.accept = joined(request.accept, value)
      break
    case 8:
      if (equalsIgnoringCase(name, 'if-match')) request.ifMatch = joined(request.ifMatch, value)
      else if (equalsIgnoringCase(name, 'if-range')) request.ifRange ??= value
      break
    case 13:
      if (equalsIgnoringCase(name, 'if-none-match')) request.ifNoneMatch = joined(request.ifNoneMatch, value)
      break
    case 14:
      if (equalsIgnoringCase(name, 'sec-fetch-mode')) request.secFetchMode ??= value
      break
    case 15:
      if (equalsIgnoringCase(name, 'accept-encoding'))
        request.acceptEncoding = joined(request.acceptEncoding, value)
      break
    case 17:
      if (equalsIgnoringCase(name, 'if-modified-since')) request.ifModifiedSince ??= value
      break
    case 19:
      if (equalsIgnoringCase(name, 'if-unmodified-since')) request.ifUnmodifiedSince ??= value
      break
    case 20:
      if (equalsIgnoringCase(name, 'available-dictionary'))
        request.availableDictionary = joined(request.availableDictionary, value)
      break
    default:
  }
}

/**
 * Reads the origin fields only for requests that offer a dictionary, because most requests have these
 * fields.
 */
function readOrigin(request: Writable<RequestFields>, rawHeaders: readonly string[]): void {
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    const value = rawHeaders[index + 1] ?? ''
    if (equalsIgnoringCase(name, 'origin')) request.origin = joined(request.origin, value)
    else if (equalsIgnoringCase(name, 'sec-fetch-site'))
      request.secFetchSite = joined(request.secFetchSite, value)
  }
}

/** RFC 9110 §5.3: lines of a list-based field form one list. */
function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`
}

function clear(request: Writable<RequestFields>): void {
  request.accept = undefined
  request.acceptEncoding = undefined
  request.ifMatch = undefined
  request.ifModifiedSince = undefined
  request.ifNoneMatch = undefined
  request.ifRange = undefined
  request.ifUnmodifiedSince = undefined
  request.range = undefined
  request.secFetchMode = undefined
  request.availableDictionary = undefined
  request.secFetchSite = undefined
  request.origin = undefined
}
