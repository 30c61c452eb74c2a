import type { ContentCoding } from '@serve-dist/manifest'

// Simplified patterns for request headers, for PCRE without case sensitivity. `protocol/` parses these headers exactly.

/** Matches an `Accept-Encoding` that names a coding without a weight of zero. It does not compare weights. */
export function codingPattern(coding: ContentCoding): string {
  const name = coding === 'gzip' ? '(?:x-)?gzip' : coding
  return String.raw`(?:^|,)\s*${name}\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[0-9.]+\s*)?(?:,|$)`
}

const accepted = String.raw`\s*(?:;(?!\s*q=0(?:\.0*)?\s*(?:,|$))|,|$)`

/** Matches an `Accept` that names HTML without a weight of zero. */
export const htmlPattern: string = String.raw`(?:^|,)\s*text/html${accepted}`

/** Matches an absent `Accept`, or one that names any type without a weight of zero and does not name HTML. */
export const anyTypePattern: string = String.raw`^(?!(?:.*,)?\s*text/html\s*(?:[;,]|$))(?:$|(?:.*,)?\s*\*/\*${accepted})`

/** Matches targets that hosts would normalize: with dot segments, empty segments, backslashes, encoded slashes or controls. */
export const uncleanTargetPattern: string = String.raw`^[^?]*(?://|\\|%(?:5c|2f|[01][0-9a-f]|7f)|/(?:\.|%2e)(?:\.|%2e)?(?:/|\?|$))`
