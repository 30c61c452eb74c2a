import { fieldPairs } from '../protocol/field-pairs.ts'
import type { ContentCoding } from '@serve-dist/manifest'
import { entityTagOf, isStrong } from '../protocol/entity-tag.ts'
import { okAnswer } from '../site/representation-answers.ts'
import type { Resource } from '../site/site.ts'
import type { Observation } from './site-findings.ts'
import type { Received } from './site-client.ts'

/** What a site answered for one file. */
export interface FileAnswers {
  readonly resource: Resource
  /** Whether the site makes bytes of its own. */
  readonly isRuntime?: boolean
  /** As it was asked for. */
  readonly path: string
  /** To a client that names no coding. */
  readonly plain: Received
  /** To clients that want one coding each. */
  readonly coded: ReadonlyMap<ContentCoding, Received>
  /** To a client that takes what browsers take. */
  readonly browser: Received
  /** To the same client, which has it by now; `undefined` where the answer named no validator. */
  readonly again: Received | undefined
  /** To one that offers it as a dictionary; `undefined` where the site does not mark it as one (RFC 9842 §2.1). */
  readonly offering?: Received | undefined
  /** Directives of the policy that the environment of the server decides, which is not that of the check. */
  readonly policyByEnvironment?: readonly string[]
}

/** Compares the answers for a file with what the build says of it. */
export function judgeFile(answers: FileAnswers): Observation[] {
  const { path, plain, coded, browser } = answers
  const all = [plain, ...coded.values(), browser]
  const refused = all.find(({ status }) => status !== 200)
  if (refused !== undefined) {
    const { status, fields } = refused
    return status >= 300 && status < 400
      ? [{ code: 'redirected', path, detail: fields.location ?? 'nowhere' }]
      : [{ code: 'gone', path, detail: String(status) }]
  }
  const judged = { ...answers, all }
  const bodies = judgeBodies(judged)
  // Of other bytes, everything else is other, too.
  if (bodies.length > 0) return bodies
  return [
    ...judgeCodings(judged),
    ...judgeValidators(judged),
    ...judgeFreshness(judged),
    ...judgeFields(judged),
    ...judgeDictionary(judged),
    ...judgePolicy(judged),
  ]
}

interface JudgedAnswers extends FileAnswers {
  /** Those that have a body. */
  readonly all: readonly Received[]
}

function judgeBodies({ resource, isRuntime, path, all }: JudgedAnswers): Observation[] {
  const broken = all.find(({ decoded }) => decoded === 'broken')
  if (broken !== undefined) return [{ code: 'broken-coding', path, detail: broken.coding }]
  if (isRuntime === true) return []
  const isOther = ({ decoded }: Received): boolean =>
    typeof decoded === 'object' && entityTagOf(decoded.sha256) !== resource.identity.entityTag
  if (all.some(isOther)) return [{ code: 'other-bytes', path }]
  const undecoded = all.find((answer) => answer.decoded === 'unknown' && !isOfBuild(resource, answer))
  return undecoded === undefined ? [] : [{ code: 'not-decoded', path, detail: undecoded.coding }]
}

/** Whether these are the very bytes of one of the build's variants. */
function isOfBuild({ representations }: Resource, { coding, sha256 }: Received): boolean {
  return representations.some((made) => made.coding === coding && made.entityTag === entityTagOf(sha256))
}

function judgeCodings({ resource, path, plain, coded, browser }: JudgedAnswers): Observation[] {
  const found: Observation[] = []
  const best = Math.min(...resource.representations.map(({ bytes }) => bytes.size))
  const lost = { bytes: Math.max(0, browser.size - best), of: best }
  if (plain.coding !== 'identity') found.push({ code: 'unasked-coding', path, detail: plain.coding })
  for (const [asked, answer] of coded) {
    if (answer.coding === 'identity') found.push({ code: 'stripped', path, detail: asked, ...lost })
    else if (answer.coding !== asked) found.push({ code: 'unasked-coding', path, detail: answer.coding })
  }
  const again = [...coded.values(), browser].find(
    (answer) => answer.coding !== 'identity' && !isOfBuild(resource, answer),
  )
  if (again !== undefined) found.push({ code: 'recompressed', path, detail: again.coding, ...lost })
  return found
}

function judgeValidators({ path, all, again }: JudgedAnswers): Observation[] {
  if (all.some(({ fields }) => fields.etag === undefined)) return [{ code: 'no-etag', path }]
  const isShared = all.some(({ fields: { etag = '' }, sha256 }) =>
    all.some((other) => isStrong(etag) && other.fields.etag === etag && other.sha256 !== sha256),
  )
  return [
    ...(isShared ? [{ code: 'shared-etag', path } as const] : []),
    ...(again === undefined || again.status === 304 ? [] : [{ code: 'no-304', path } as const]),
  ]
}

function judgeFreshness({ resource, path, all, again }: JudgedAnswers): Observation[] {
  const wanted = expectedFields(resource).get('cache-control')
  const wantedAge = freshSeconds(wanted)
  const other = all.find(({ fields }) => fields['cache-control'] !== wanted)
  const value = other?.fields['cache-control']
  const age = other === undefined ? wantedAge : freshSeconds(value)
  const seen = { path, detail: value ?? 'missing' }
  const isTooShort = wantedAge >= longEnough && age < longEnough
  return [
    ...(isTooShort ? [{ code: 'hashed-not-kept', ...seen } as const] : []),
    ...(wantedAge === 0 && age > 0
      ? [{ code: resource.isPage ? 'page-kept' : 'file-kept', ...seen } as const]
      : []),
    ...judgeAge(resource, path, again === undefined ? all : [...all, again]),
  ]
}

/** Whether a cache on the way has kept a page that is to be asked for each time. */
export function judgeAge(resource: Resource, path: string, answers: readonly Received[]): Observation[] {
  const isToBeAsked = resource.isPage && freshSeconds(expectedFields(resource).get('cache-control')) === 0
  const age = Math.max(...answers.map(ageOf))
  return isToBeAsked && !mayBeKeptBetween(resource) && age > 0
    ? [{ code: 'page-aged', path, detail: String(age) }]
    : []
}

/** Whether a cache between may keep a page because a rule of the build tells it so. */
function mayBeKeptBetween(resource: Resource): boolean {
  return [...expectedFields(resource)].some(
    ([name, value]) =>
      name === 'surrogate-control' ||
      name.endsWith('cdn-cache-control') ||
      (name === 'cache-control' && /s-maxage=[1-9]/.test(value)),
  )
}

/** How old a stored answer is, in seconds; at least 1 where a cache says that it did not ask for it. */
function ageOf({ fields }: Pick<Received, 'fields'>): number {
  const verdicts = ['x-cache', 'x-cache-status', 'x-proxy-cache', 'cf-cache-status'].map(
    (name) => fields[name],
  )
  const isHit = verdicts.some((verdict) => /\bhit\b/i.test(String(verdict ?? '')))
  // RFC 9111 §5.1: whole seconds; anything else says nothing.
  const seconds = /^\d{1,10}$/.test(String(fields.age)) ? Number(fields.age) : 0
  return Math.max(seconds, isHit ? 1 : 0)
}

/** A month: nobody asks for a file again sooner than that because of a shorter time. */
const longEnough = 30 * 86_400

/** Without `Cache-Control` browsers keep what has a date for as long as they like (RFC 9111 §4.2.2): a minute at least. */
const heuristicSeconds = 60

/** For how long a browser uses an answer without asking (RFC 9111 §5.2.2). */
export function freshSeconds(cacheControl: string | undefined): number {
  if (cacheControl === undefined) return heuristicSeconds
  if (/\bno-(?:cache|store)\b/i.test(cacheControl)) return 0
  const seconds = /(?:^|[\s,])max-age="?(\d+)/i.exec(cacheControl)?.[1]
  return seconds === undefined ? heuristicSeconds : Number(seconds)
}

/** Judged by themselves, or the connection's. */
const judgedElsewhere: ReadonlySet<string> = new Set([
  'accept-ranges',
  'cache-control',
  'content-encoding',
  'content-length',
  'content-type',
  'etag',
  'last-modified',
  'vary',
])

function judgeFields({ resource, path, all }: JudgedAnswers): Observation[] {
  const found: Observation[] = []
  if (resource.vary !== undefined && !all.every((answer) => varies(answer)))
    found.push({ code: 'no-vary', path })
  const wanted = essenceOf(resource.mediaType)
  const other = all.find(({ fields }) => essenceOf(fields['content-type']) !== wanted)
  if (other !== undefined)
    found.push({ code: 'media-type', path, detail: other.fields['content-type'] ?? 'no type' })
  for (const name of expectedFields(resource).keys()) {
    const isLost = !judgedElsewhere.has(name) && all.some(({ fields }) => !Object.hasOwn(fields, name))
    if (isLost) found.push({ code: 'field-lost', path, detail: name })
  }
  return found
}

/** Whether somebody on the way has put another policy in the place of the build's, or a second one beside it. */
function judgePolicy({ resource, path, all, policyByEnvironment: left = [] }: JudgedAnswers): Observation[] {
  const directivesOf = (policy: string): string =>
    policy
      .split(';')
      .map((directive) => directive.trim())
      .filter((directive) => !left.includes(directive.split(' ')[0] ?? ''))
      .join('; ')
  return ['content-security-policy', 'content-security-policy-report-only'].flatMap((name): Observation[] => {
    const wanted = expectedFields(resource).get(name)
    const isOther = ({ fields }: Received): boolean => {
      const value = fields[name]
      return typeof value === 'string' && directivesOf(value) !== directivesOf(wanted ?? '')
    }
    return wanted !== undefined && all.some(isOther) ? [{ code: 'policy-changed', path, detail: name }] : []
  })
}

/** Whether a cache on the way may give the delta of one visitor to another. */
function judgeDictionary({ path, all, offering }: JudgedAnswers): Observation[] {
  if (offering === undefined) return []
  const isDelta = offering.coding === 'dcb' || offering.coding === 'dcz'
  return [
    ...([...all, offering].every((answer) => varies(answer, 'available-dictionary'))
      ? []
      : [{ code: 'no-dictionary-vary', path } as const]),
    ...(isDelta ? [{ code: 'unasked-delta', path, detail: offering.coding } as const] : []),
  ]
}

function varies({ fields: { vary = '' } }: Received, name = 'accept-encoding'): boolean {
  const names = vary.toLowerCase().split(/[\s,]+/)
  return names.includes('*') || names.includes(name)
}

function essenceOf(mediaType = ''): string {
  return (mediaType.split(';')[0] ?? '').trim().toLowerCase()
}

/** The fields of a 200 by lower-case name. */
function expectedFields(resource: Resource): ReadonlyMap<string, string> {
  const pairs = fieldPairs(okAnswer(resource.identity, resource))
  return new Map(Array.from(pairs, ([name, value]) => [name.toLowerCase(), value]))
}
