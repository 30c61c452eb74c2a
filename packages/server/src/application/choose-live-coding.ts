import { type ContentCoding, contentCodings, isCompressible } from '@serve-dist/manifest'
import { codingWeights } from '../protocol/accept-encoding.ts'

/** What is known of an answer when its head is written. */
export interface LiveAnswer {
  readonly status: number
  readonly acceptEncoding: string | undefined
  readonly mediaType: string | undefined
  /** In bytes, where it is known. */
  readonly contentLength: number | undefined
  readonly contentEncoding: string | undefined
  readonly contentRange: string | undefined
  readonly cacheControl: string | undefined
}

/** What becomes of an answer: whether it depends on the request's codings, and the coding that it gets. */
export interface LiveDecision {
  readonly varies: boolean
  readonly coding: ContentCoding | undefined
}

/** As at build time: below it, the fields and the client's work outweigh what is saved. */
const minimumSize = 1024

const untouched: LiveDecision = { varies: false, coding: undefined }

/** Decides how an answer that no build has compressed is sent; one that is coded already stays as it is. */
export function chooseLiveCoding(answer: LiveAnswer, available: ReadonlySet<ContentCoding>): LiveDecision {
  const { status, contentLength } = answer
  const hasNoBody = status < 200 || status === 204 || status === 304
  // RFC 9110 §14.4: a part is one of the bytes that were counted.
  const isPart = status === 206 || answer.contentRange !== undefined
  if (hasNoBody || isPart || answer.contentEncoding !== undefined) return untouched
  // RFC 9111 §5.2.2.6.
  if (/(?:^|[,\s])no-transform(?:$|[,\s])/i.test(answer.cacheControl ?? '')) return untouched
  if (answer.mediaType === undefined || !isCompressible(answer.mediaType)) return untouched
  const isSmall = contentLength !== undefined && contentLength < minimumSize
  return { varies: true, coding: isSmall ? undefined : mostWanted(answer.acceptEncoding, available) }
}

function mostWanted(
  acceptEncoding: string | undefined,
  available: ReadonlySet<ContentCoding>,
): ContentCoding | undefined {
  const weights = codingWeights(acceptEncoding)
  let chosen: ContentCoding | undefined
  let highest = 0
  for (const { name } of contentCodings) {
    if (weights[name] > highest && available.has(name)) {
      chosen = name
      highest = weights[name]
    }
  }
  return highest >= weights.identity ? chosen : undefined
}
