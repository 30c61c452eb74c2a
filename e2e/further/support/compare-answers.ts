import type { Answer, Answers } from './record-answers.ts'

/** An advantage of the answer after a migration over the answer before it. */
type Improvement =
  /** A missing file is a 404 and no page; a page is a 200 and no redirect. */
  | 'status'
  /** `text/javascript`, the registered type (RFC 9239). */
  | 'type'
  /** Compressed, or compressed by a better coding. */
  | 'coding'
  | 'fewer bytes'
  /** A `Content-Length` instead of chunks. */
  | 'length'
  /** An entity tag, or a strong one instead of a weak one. */
  | 'entity tag'
  | 'Last-Modified'
  /** A `Cache-Control`, or a stronger one. */
  | 'caching'
  | 'nosniff'
  /** `Vary: Accept-Encoding` for a compressed answer. */
  | 'Vary'

/** The differences between two answers to the same request. */
interface Comparison {
  readonly better: readonly Improvement[]
  /** Differences that no improvement explains. */
  readonly worse: readonly string[]
}

/** Fields that have a comparison of their own, or that do not describe the file. */
const comparedFields = new Set([
  'accept-ranges',
  'cache-control',
  'connection',
  'content-disposition',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'etag',
  'expires',
  'keep-alive',
  'last-modified',
  'location',
  'server',
  'transfer-encoding',
  'vary',
  'x-powered-by',
])
const codings = ['identity', 'gzip', 'br', 'zstd']

/**
 * Compares the answers before and after a migration. Returns the improvements by request, such as
 * `'caching, fewer bytes'`. Other differences are listed as `'WORSE …'`.
 */
export function compareAnswers(before: Answers, after: Answers): Readonly<Record<string, string>> {
  const rows = Object.entries(before).map(([request, answer]) => {
    const now = after[request]
    if (now === undefined) throw new Error(`there is no answer to ${request} after the migration`)
    const { better, worse } = compareTwo(answer, now)
    return [request, [...better, ...worse.map((difference) => `WORSE ${difference}`)].join(', ')]
  })
  return Object.fromEntries(rows)
}

function compareTwo(before: Answer, after: Answer): Comparison {
  const [old, now] = [before.headers, after.headers]
  const change = (name: string): string => `${name}: ${String(old[name])} → ${String(now[name])}`
  if (before.status !== after.status) {
    if (isBetterStatus(before, after)) return { better: ['status'], worse: [] }
    return { better: [], worse: [`status: ${before.status} → ${after.status}`] }
  }
  if (before.status === 404) return { better: [], worse: [] }
  if (before.status === 301) {
    // A redirect shows no document, and serve-dist sends the fields of `headers` with files alone.
    const isSame = pathOf(old.location) === pathOf(now.location)
    return { better: [], worse: isSame ? [] : [change('location')] }
  }
  const better: Improvement[] = []
  const worse: string[] = []
  const judge = (improvement: Improvement, difference: number, name: string): void => {
    if (difference > 0) better.push(improvement)
    if (difference < 0) worse.push(change(name))
  }
  for (const name of Object.keys(old).filter((field) => !comparedFields.has(field))) {
    if (old[name] !== now[name]) worse.push(change(name))
  }
  if (before.body !== after.body) worse.push('another body')
  judge('caching', compareCaching(old['cache-control'], now['cache-control']), 'cache-control')
  // A 304 describes no body.
  if (before.status === 304) return { better, worse }
  const judgePresence = (improvement: Improvement, name: string): void =>
    judge(improvement, presence(now[name]) - presence(old[name]), name)
  judge('type', compareTypes(old['content-type'], now['content-type']), 'content-type')
  judge('entity tag', tagStrength(now.etag) - tagStrength(old.etag), 'etag')
  judgePresence('Last-Modified', 'last-modified')
  judgePresence('nosniff', 'x-content-type-options')
  judge('coding', codingRank(now) - codingRank(old), 'content-encoding')
  judge('fewer bytes', compareSizes(before.wireBytes, after.wireBytes), 'content-length')
  judgePresence('length', 'content-length')
  judge('Vary', variesRight(now) - variesRight(old), 'vary')
  return { better, worse }
}

function isBetterStatus(before: Answer, after: Answer): boolean {
  const isPage = before.headers['content-type']?.startsWith('text/html') ?? false
  if (before.status === 200 && isPage) return after.status === 404 && !before.isNavigation
  return before.status === 301 && after.status === 200 && before.isNavigation
}

function pathOf(location: string | undefined): string | undefined {
  return location === undefined ? undefined : new URL(location, 'http://localhost').pathname
}

function presence(value: unknown): number {
  return value === undefined ? 0 : 1
}

function tagStrength(tag: string | undefined): number {
  if (tag === undefined) return 0
  return tag.startsWith('W/') ? 1 : 2
}

function codingRank(headers: Answer['headers']): number {
  return codings.indexOf(headers['content-encoding'] ?? 'identity')
}

/** Returns 0 if the second size is one byte more: serve-dist names the exact window of a brotli file. */
function compareSizes(before: number, after: number): number {
  return after === before + 1 ? 0 : before - after
}

function variesRight(headers: Answer['headers']): number {
  const isCoded = headers['content-encoding'] !== undefined
  return isCoded && !/accept-encoding/i.test(headers.vary ?? '') ? 0 : 1
}

/** Returns 0 for equal types, regardless of a `charset`. */
function compareTypes(before = '', after = ''): number {
  const [old, now] = [before, after].map((type) => type.toLowerCase().split(';')[0])
  if (old === now) return 0
  return old === 'application/javascript' && now === 'text/javascript' ? 1 : -1
}

function compareCaching(before: string | undefined, after: string | undefined): number {
  if (before === undefined || after === undefined) return presence(after) - presence(before)
  const [old, now] = [readCaching(before), readCaching(after)]
  if (now.seconds < old.seconds || (old.isImmutable && !now.isImmutable)) return -1
  return now.seconds > old.seconds || (now.isImmutable && !old.isImmutable) ? 1 : 0
}

/** Reads a `Cache-Control`. `no-cache` and `max-age=0` both let clients revalidate each time. */
function readCaching(value: string): { seconds: number; isImmutable: boolean } {
  const seconds = value.includes('no-cache') ? 0 : Number(/max-age=(\d+)/.exec(value)?.[1] ?? 0)
  return { seconds, isImmutable: value.includes('immutable') }
}
