import type { IncomingMessage } from 'node:http'

/** A request and how it was answered, once that is over. */
export interface Exchange {
  readonly request: IncomingMessage
  /** The client's address, as far as proxies are trusted. */
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
  readonly milliseconds: number
  /** Whether the connection ended before the answer did. */
  readonly isAborted: boolean
}

/** What `Cache-Control` lets caches do. */
export type CacheUse = 'immutable' | 'revalidate' | 'no-store' | 'other'

/** Sums up a value of `Cache-Control`; without one, caches decide by themselves. */
export function cacheUseOf(cacheControl: string | undefined): CacheUse {
  if (cacheControl === undefined) return 'other'
  if (/\bimmutable\b/i.test(cacheControl)) return 'immutable'
  if (/\bno-store\b/i.test(cacheControl)) return 'no-store'
  return /\bno-cache\b/i.test(cacheControl) ? 'revalidate' : 'other'
}
