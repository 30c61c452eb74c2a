import type { IncomingMessage } from 'node:http'
import type { Answer } from '../site/site.ts'

/** A request and how it was answered, once that is over. */
export interface Exchange {
  /** `method` is `undefined` when the request could not be parsed. */
  readonly request: Pick<IncomingMessage, 'method' | 'url' | 'httpVersion' | 'rawHeaders'>
  /** The client's address, by the trusted proxies. */
  readonly address: string
  /** 499 where the client had gone before there was a head (nginx's number for it). */
  readonly status: number
  /** The value of `Content-Encoding`, or `identity`. */
  readonly coding: string
  readonly cache: CacheUse
  /** Bytes of the body that were handed to the connection. */
  readonly bytes: number
  /** Bytes that the coding saved against the identity. */
  readonly savedBytes: number
  /** `undefined` when the request could not be parsed: nobody knows when it began. */
  readonly milliseconds: number | undefined
  /** Whether the connection ended before the answer did. */
  readonly isAborted: boolean
  /** When it ended, in milliseconds since 1970; absent where that is now. */
  readonly time?: number
  /** Node's error code, when the request could not be parsed. */
  readonly error?: string
}

/** The exchange of a request that could not be parsed. */
export const refusedExchange: Omit<Exchange, 'status' | 'address'> = {
  request: { method: undefined, url: undefined, httpVersion: '', rawHeaders: [] },
  coding: 'identity',
  cache: 'other',
  bytes: 0,
  savedBytes: 0,
  milliseconds: undefined,
  isAborted: false,
}

/** What all exchanges with one answer have in common. */
export type AnswerSummary = Pick<Exchange, 'status' | 'coding' | 'cache'>

export function summarize({ status, fields }: Answer): AnswerSummary {
  const coding = answerField(fields, 'Content-Encoding') ?? 'identity'
  return { status, coding, cache: classifyCacheControl(answerField(fields, 'Cache-Control')) }
}

/** The value of a field in the list of an answer. */
export function answerField(fields: readonly string[], name: keyof typeof inLowerCase): string | undefined {
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const known = fields[index]
    if (known === name || (known?.length === name.length && known.toLowerCase() === inLowerCase[name])) {
      return fields[index + 1]
    }
  }
  return undefined
}

/** Users' rules may write names in any case; ours are found without a lower-case copy of each. */
const inLowerCase = { 'Content-Encoding': 'content-encoding', 'Cache-Control': 'cache-control' } as const

/** What `Cache-Control` lets caches do. */
export type CacheUse = 'immutable' | 'revalidate' | 'no-store' | 'other'

/** Sums up a value of `Cache-Control`; without one, caches decide by themselves. */
export function classifyCacheControl(cacheControl: string | undefined): CacheUse {
  if (cacheControl === undefined) return 'other'
  if (/\bimmutable\b/i.test(cacheControl)) return 'immutable'
  if (/\bno-store\b/i.test(cacheControl)) return 'no-store'
  return /\bno-cache\b/i.test(cacheControl) ? 'revalidate' : 'other'
}
