import type { IncomingMessage } from 'node:http'
import type { UpstreamNote } from '../site/upstream-note.ts'
import type { Answer } from '../site/site.ts'

/** A request and its finished answer. */
export interface Exchange {
  /** `method` is `undefined` if the request could not be parsed. */
  readonly request: Pick<IncomingMessage, 'method' | 'url' | 'httpVersion' | 'rawHeaders'>
  /** The client's address, from the trusted proxies. */
  readonly address: string
  /** 499 if the client disconnected before the head was sent (nginx's number). */
  readonly status: number
  /** The value of `Content-Encoding`, or `identity`. */
  readonly coding: string
  readonly cache: CacheUse
  /** Bytes of the body that were passed to the connection. */
  readonly bytes: number
  /** Bytes that the coding saved compared with the identity. */
  readonly savedBytes: number
  /** `undefined` if the request could not be parsed, because its start is unknown. */
  readonly milliseconds: number | undefined
  /** Whether the connection ended before the answer. */
  readonly isAborted: boolean
  /** The time of the end in milliseconds since 1970; the default is now. */
  readonly time?: number
  /** Node's error code, if the request could not be parsed. */
  readonly error?: string
  /** The target that the request was forwarded to; absent without one. */
  readonly upstream?: UpstreamNote | undefined
}

/** The fields of a request that could not be parsed. */
export const refusedExchange: Omit<Exchange, 'status' | 'address'> = {
  request: { method: undefined, url: undefined, httpVersion: '', rawHeaders: [] },
  coding: 'identity',
  cache: 'other',
  bytes: 0,
  savedBytes: 0,
  milliseconds: undefined,
  isAborted: false,
}

/** The fields that are equal for all exchanges with the same answer. */
export type AnswerSummary = Pick<Exchange, 'status' | 'coding' | 'cache'>

export function summarize({ status, fields }: Answer): AnswerSummary {
  const coding = answerField(fields, 'Content-Encoding') ?? 'identity'
  return { status, coding, cache: classifyCacheControl(answerField(fields, 'Cache-Control')) }
}

/** Returns the value of a field in the field list of an answer. */
export function answerField(fields: readonly string[], name: keyof typeof inLowerCase): string | undefined {
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const known = fields[index]
    if (known === name || (known?.length === name.length && known.toLowerCase() === inLowerCase[name])) {
      return fields[index + 1]
    }
  }
  return undefined
}

/**
 * Rules of users may use any letter case. The exact names are compared first, without a lower-case copy.
 */
const inLowerCase = { 'Content-Encoding': 'content-encoding', 'Cache-Control': 'cache-control' } as const

/** A class of `Cache-Control` values. */
export type CacheUse = 'immutable' | 'revalidate' | 'no-store' | 'other'

/** Classifies a value of `Cache-Control`. Without a value, caches apply their own rules. */
export function classifyCacheControl(cacheControl: string | undefined): CacheUse {
  if (cacheControl === undefined) return 'other'
  if (/\bimmutable\b/i.test(cacheControl)) return 'immutable'
  if (/\bno-store\b/i.test(cacheControl)) return 'no-store'
  return /\bno-cache\b/i.test(cacheControl) ? 'revalidate' : 'other'
}
