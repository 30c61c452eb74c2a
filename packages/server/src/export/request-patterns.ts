import type { ContentCoding } from '@serve-dist/manifest'

// What hosts are told of a request's fields, for PCRE and without regard to case. `protocol/` reads them whole.

/** Whether `Accept-Encoding` names a coding, and not with a weight of zero; weights are not compared. */
export function codingPattern(coding: ContentCoding): string {
  const name = coding === 'gzip' ? '(?:x-)?gzip' : coding
  return String.raw`(?:^|,)\s*${name}\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[0-9.]+\s*)?(?:,|$)`
}

/** Whether `Accept` names pages, and not with a weight of zero. */
export const htmlPattern: string = String.raw`(?:^|,)\s*text/html\s*(?:;(?!\s*q=0(?:\.0*)?\s*(?:,|$))|,|$)`

/** A request target with a dot segment, an empty one, a backslash, an encoded slash or control character: hosts would repair it. */
export const uncleanTargetPattern: string = String.raw`^[^?]*(?://|\\|%(?:5c|2f|[01][0-9a-f]|7f)|/(?:\.|%2e)(?:\.|%2e)?(?:/|\?|$))`
