import type { ByteRange } from '../protocol/byte-range.ts'
import type { RedirectMatch } from './redirects.ts'
import type { Entry, ProxyPattern, Representation, Resource } from './site.ts'

/**
 * Receives the reasons for an answer, in the order in which `decide` finds them.
 *
 * @returns `undefined`, so that a branch without an answer can write `return trace?.(…)`.
 */
export type DecisionTrace = (reason: Reason) => undefined

/** The reason why `decide` took a branch, with its data. */
export type Reason =
  | PathReason
  | UnknownPathReason
  | MethodReason
  | RepresentationReason
  | DeltaReason
  | PreconditionReason
  | RangeReason
  | SentReason

type PathReason =
  | { readonly code: 'malformed-target' | 'unclean-path' | 'asterisk-target' }
  | { readonly code: 'known-path'; readonly path: string; readonly entry: Entry }
  | { readonly code: 'unknown-path'; readonly path: string }
  | { readonly code: 'unavailable'; readonly match: RedirectMatch }

type UnknownPathReason =
  | { readonly code: 'proxied'; readonly rule: ProxyPattern; readonly target: string }
  | { readonly code: 'proxied-dot-segment' | 'proxied-trace'; readonly rule: ProxyPattern }
  | { readonly code: 'redirect-rule' | 'fallback' | 'navigations-only'; readonly match: RedirectMatch }
  | { readonly code: 'rule-not-for-assets'; readonly match: RedirectMatch }
  | { readonly code: 'no-fallback' | 'outside-base' | 'no-page-for-assets' | 'no-fallback-page' }

type MethodReason =
  | { readonly code: 'unknown-path-method' | 'head' }
  | { readonly code: 'rule-makes-path-known'; readonly match: RedirectMatch }
  | { readonly code: 'other-method'; readonly resource: Resource | undefined }

interface RepresentationReason {
  readonly code: 'representation'
  readonly resource: Resource
  /** `undefined` if no representation is acceptable. */
  readonly selected: Representation | undefined
}

type DeltaReason =
  | { readonly code: 'no-deltas' | 'unknown-dictionary' | 'delta-not-smaller' | 'delta-not-readable' }
  | { readonly code: 'delta-beside-range' | 'delta-coding-not-accepted' }
  | { readonly code: 'delta'; readonly delta: Representation }

interface PreconditionReason {
  readonly code: 'if-match' | 'if-unmodified-since' | 'if-none-match' | 'if-modified-since'
  readonly status: 304 | 412 | undefined
  readonly resource: Resource
  readonly selected: Representation
}

type RangeReason =
  | { readonly code: 'range-not-for-head' | 'range-without-identity' | 'if-range-fails' | 'range-ignored' }
  | { readonly code: 'range'; readonly range: ByteRange | 'unsatisfiable'; readonly resource: Resource }

/** The representation of a 200, 206, 304, or of the page of a 404. */
interface SentReason {
  readonly code: 'sent'
  readonly resource: Resource
  readonly representation: Representation
  readonly range?: ByteRange | undefined
}
