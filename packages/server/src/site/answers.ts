import type { ByteRange } from '../protocol/byte-range.ts'
import type { FieldValues } from '@serve-dist/manifest'
import { collectOverrides, extendVary, type FieldOverrides, overrideFields } from '../protocol/field-list.ts'
import { findField } from '../protocol/request-head.ts'
import { memoizeWeakly } from './memoize-weakly.ts'
import { okAnswer, retryAfter, varyOf } from './representation-answers.ts'
import type { Answer, AnswerContent, Redirect, Resource } from './site.ts'

// Answers that are the same for every build. Each error has `no-store` and a one-line text.

export const allowedMethods = 'GET, HEAD, OPTIONS'
// RFC 9110 §15. Hosts without Node have no `http.STATUS_CODES`.
const reasons = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  416: 'Range Not Satisfiable',
  421: 'Misdirected Request',
  426: 'Upgrade Required',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}
const noContent: AnswerContent = { kind: 'none' }

/** 400: the request target is malformed. */
export const badRequest: Answer = errorAnswer(400)
/** 401: the request has no accepted credentials (RFC 7617 §2). */
export const unauthorized: Answer = errorAnswer(401, [
  'WWW-Authenticate',
  'Basic realm="Restricted", charset="UTF-8"',
])
/** 404: the path is unknown. */
export const notFound: Answer = errorAnswer(404)
/** 405 with `Allow` (RFC 9110 §15.5.6). */
export const methodNotAllowed: Answer = errorAnswer(405, ['Allow', allowedMethods])
/** 421: the request names a host that this server does not serve (RFC 9110 §15.5.20). */
export const misdirectedRequest: Answer = errorAnswer(421)
/** 500: a file that existed at the start is gone. */
export const internalServerError: Answer = errorAnswer(500)
/** 503: a store is unreachable, or too many passwords wait for their comparison (RFC 9110 §15.6.4). */
export const serviceUnavailable: Answer = errorAnswer(503, ['Retry-After', '5'])

const proxiedMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
/** 405: a target could show the client the fields that a rule adds (RFC 9110 §9.3.8). */
export const traceNotAllowed: Answer = errorAnswer(405, ['Allow', proxiedMethods])
/** 426: a WebSocket of another version (RFC 6455 §4.2.2, RFC 9110 §15.5.22). */
export const upgradeRequired: Answer = errorAnswer(426, [
  'Connection',
  'close, Upgrade',
  'Upgrade',
  'websocket',
  'Sec-WebSocket-Version',
  '13',
])
/** 413: a request for a proxied path has a body above the limit of the rule. */
export const contentTooLarge: Answer = errorAnswer(413)
/** 502: the target of a proxied path failed. */
export const badGateway: Answer = errorAnswer(502)
/** 504: the target of a proxied path is too slow. */
export const gatewayTimeout: Answer = errorAnswer(504)

/** Returns the error to send if the body of an answer cannot be opened. */
export function failedAnswer(status: unknown): Answer {
  if (status === 404) return notFound
  return status === 503 ? serviceUnavailable : internalServerError
}

/** The answer to a health check of a running server. */
export const healthy: Answer = textAnswer(200, 'ok\n')
/** 405 for paths that are only read. */
export const onlyReads: Answer = textAnswer(405, 'only GET and HEAD\n', { more: ['Allow', 'GET, HEAD'] })

const plainOptionsAnswer: Answer = {
  status: 204,
  fields: fieldsOfOptions(allowedMethods),
  content: noContent,
}

/**
 * Returns 204 for OPTIONS (RFC 9110 §9.3.7). If other origins may use the file, the answer allows every
 * preflight (Fetch §4.8) and therefore needs no `Vary`.
 */
export function optionsAnswer(resource?: Resource): Answer {
  return (resource && preflightAnswer(allowedMethods, resource.overrides)) ?? plainOptionsAnswer
}

/**
 * Returns 204 for a preflight (Fetch §4.8) of a proxied path, if the rule allows other origins. Otherwise the
 * target answers.
 *
 * @param fields - the fields that the rule sets.
 */
export function proxyPreflight(
  { method, rawHeaders }: { readonly method?: string | undefined; readonly rawHeaders: readonly string[] },
  fields: FieldValues,
): Answer | undefined {
  if (method !== 'OPTIONS' || findField(rawHeaders, 'access-control-request-method') === -1) return undefined
  return preflightAnswer(proxiedMethods, collectOverrides([fields]))
}

/** Returns 204 for a preflight; `undefined` if other origins may not use the answers. */
function preflightAnswer(methods: string, overrides: FieldOverrides): Answer | undefined {
  if (typeof overrides.get('access-control-allow-origin')?.value !== 'string') return undefined
  const fields = [
    ...fieldsOfOptions(methods),
    'Access-Control-Allow-Methods',
    methods,
    'Access-Control-Allow-Headers',
    '*',
    // Browsers keep the answer for one day at most.
    'Access-Control-Max-Age',
    '86400',
  ]
  const forPreflight = new Map([...overrides].filter(([name]) => isForPreflight(name)))
  return { status: 204, fields: overrideFields(fields, forPreflight), content: noContent }
}

function fieldsOfOptions(methods: string): string[] {
  return ['Allow', methods, 'Cache-Control', 'no-store']
}

function isForPreflight(name: string): boolean {
  return name.startsWith('access-control-') || name === 'vary'
}

/** 406: the client excludes identity and accepts no variant (RFC 9110 §12.5.3). */
export const notAcceptable: (resource: Resource) => Answer = memoizeWeakly((resource) =>
  errorAnswer(406, varyOf(resource)),
)

/** 412 (RFC 9110 §13.1). */
export const preconditionFailed: (resource: Resource) => Answer = memoizeWeakly((resource) =>
  errorAnswer(412, varyOf(resource)),
)

/** The request fields that identify a navigation (`is-navigation.ts`). */
const navigationFields = 'Accept, Sec-Fetch-Mode'

/** Adds the `Vary` of an answer that differs between navigations and other requests (RFC 9110 §12.5.5). */
export const withNavigationVary: (answer: Answer) => Answer = memoizeWeakly((answer) => {
  const fields = [...answer.fields]
  const found = fields.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'vary')
  const at = found === -1 ? fields.push('Vary', '') - 2 : found
  fields[at + 1] = extendVary(fields[at + 1] ?? '', navigationFields)
  return { ...answer, fields }
})

/** Returns an error without a body. */
export function bareRefusal(status: number, more: readonly string[] = []): Answer {
  return { status, fields: [...more, 'Cache-Control', 'no-store', 'Content-Length', '0'], content: noContent }
}

/** Returns a 503 without a body, with the `Retry-After` of a page. */
export function bareUnavailable(page: Resource | undefined): Answer {
  const rule = page?.overrides.get('retry-after')
  return bareRefusal(503, rule === undefined ? retryAfter : [rule.name, rule.value ?? ''])
}

/** Returns a redirect. A location without a query gets the query of the request. */
export function redirectTo(
  { status, location }: Pick<Redirect, 'status' | 'location'>,
  query: string,
): Answer {
  const [, place = location, fragment = ''] = /^([^#]*)(#.*)?$/s.exec(location) ?? []
  const target = place.includes('?') ? location : place + query + fragment
  return {
    status,
    fields: ['Location', target, 'Cache-Control', 'no-cache', 'Content-Length', '0'],
    content: noContent,
  }
}

/** Returns 206 with one range of the identity representation (RFC 9110 §15.3.7). */
export function partialContent(resource: Resource, { first, last }: ByteRange): Answer {
  const { identity } = resource
  const { size, body } = identity.bytes
  const fields = [...okAnswer(identity, resource).fields, 'Content-Range', `bytes ${first}-${last}/${size}`]
  // A part of a file is not a dictionary.
  const mark = fields.indexOf('Use-As-Dictionary')
  if (mark !== -1) fields.splice(mark, 2)
  fields[fields.indexOf('Content-Length') + 1] = String(last - first + 1)
  const content: AnswerContent =
    body === undefined
      ? { kind: 'file', stored: identity.bytes, first, end: last + 1 }
      : { kind: 'memory', bytes: body.subarray(first, last + 1) }
  return { status: 206, fields, content }
}

/** Returns 416 with the size of the file (RFC 9110 §15.5.17). */
export function rangeNotSatisfiable(resource: Resource): Answer {
  return errorAnswer(416, ['Content-Range', `bytes */${resource.identity.bytes.size}`, ...varyOf(resource)])
}

function errorAnswer(status: keyof typeof reasons, more?: readonly string[]): Answer {
  return textAnswer(status, `${status} ${reasons[status]}\n`, { more })
}

/** Returns a short text with `no-store`; plain text by default. */
export function textAnswer(
  status: number,
  text: string,
  {
    mediaType = 'text/plain; charset=utf-8',
    more = [],
  }: { readonly mediaType?: string; readonly more?: readonly string[] | undefined } = {},
): Answer {
  const bytes = new TextEncoder().encode(text)
  const fields = [
    'Content-Type',
    mediaType,
    'Content-Length',
    String(bytes.length),
    'Cache-Control',
    'no-store',
    'X-Content-Type-Options',
    'nosniff',
    ...more,
  ]
  return { status, fields, content: { kind: 'memory', bytes } }
}
