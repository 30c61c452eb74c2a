import type { IncomingMessage, ServerResponse } from 'node:http'
import { compressResponse } from '../application/compress-response.ts'
import { chooseLiveCoding, liveCodings } from '../application/live-coding.ts'
import { extendVary } from '../protocol/field-list.ts'
import { firstField, joinedField } from '../protocol/request-head.ts'
import { observationOf } from '../send/observation.ts'
import { isConnectionField } from './fields-to-client.ts'

/** Compresses the answer like that of an application, unless it is small, or the client prefers it plain. */
export function compressForwarded(
  request: IncomingMessage,
  response: ServerResponse,
  { status, fields }: { readonly status: number; readonly fields: string[] },
): void {
  const field = (name: string): string | undefined => firstField(fields, name)
  const length = field('content-length')
  const { varies, coding, isWeak } = chooseLiveCoding(
    {
      status,
      acceptEncoding: joinedField(request.rawHeaders, 'accept-encoding'),
      mediaType: field('content-type'),
      ifNoneMatch: firstField(request.rawHeaders, 'if-none-match'),
      entityTag: field('etag'),
      contentLength: length === undefined ? undefined : Number(length),
      contentEncoding: field('content-encoding'),
      contentRange: field('content-range'),
      cacheControl: field('cache-control'),
    },
    liveCodings,
  )
  if (coding !== undefined || isWeak) compressResponse(request, response)
  else if (varies) addVary(fields)
}

function addVary(fields: string[]): void {
  const at = fields.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'vary')
  if (at === -1) fields.push('Vary', 'Accept-Encoding')
  else fields[at + 1] = extendVary(fields[at + 1] ?? '', 'Accept-Encoding')
}

/** Writes the head of a target's answer. */
export function writeForwardedHead(response: ServerResponse, status: number, fields: string[]): void {
  const noted = observationOf(response)
  if (noted !== undefined) noted.answer = { status, fields, content: { kind: 'none' } }
  if (response.req.httpVersionMajor === 1) {
    response.writeHead(status, fields)
    return
  }
  // HTTP/2 does not accept flat lists.
  for (let index = 0; index + 1 < fields.length; index += 2) {
    response.appendHeader(fields[index] ?? '', fields[index + 1] ?? '')
  }
  response.writeHead(status)
}

/** Adds the trailers of a target's answer, which are alternating names and values. */
export function addForwardedTrailers(response: ServerResponse, raw: readonly (Buffer | string)[]): void {
  const trailers: Record<string, string[]> = {}
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const [name = '', value = ''] = raw.slice(index, index + 2).map(String)
    const isFraming = isConnectionField(name.toLowerCase()) || /^content-length$/i.test(name)
    if (!isFraming) trailers[name] = [...(trailers[name] ?? []), value]
  }
  response.addTrailers(trailers)
}
