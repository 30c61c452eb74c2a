import { fieldPairs } from '../protocol/field-pairs.ts'
import type { ContentCoding } from '@serve-dist/manifest'
import { entityTagOf, isStrong } from '../protocol/entity-tag.ts'
import { okAnswer } from '../site/representation-answers.ts'
import type { Resource } from '../site/site.ts'
import type { SiteObservation } from './describe-observations.ts'
import type { SiteResponse } from './site-client.ts'

/** The responses of a site for one file. */
export interface FileAnswers {
  readonly resource: Resource
  /** Whether the server generates the bytes. */
  readonly isRuntime?: boolean
  readonly path: string
  /** The response for a client without `Accept-Encoding`. */
  readonly plain: SiteResponse
  /** The responses for clients that accept one coding. */
  readonly coded: ReadonlyMap<ContentCoding, SiteResponse>
  /** The response for a browser. */
  readonly browser: SiteResponse
  /** The response for a browser that sends the validator; `undefined` if there is no validator. */
  readonly again: SiteResponse | undefined
  /** The response for a client that offers the file as a dictionary; `undefined` if it is not one (RFC 9842 §2.1). */
  readonly offering?: SiteResponse | undefined
  /** Directives that depend on the environment of the server, which the check does not know. */
  readonly policyByEnvironment?: readonly string[]
}

/** Compares the responses for a file with the build. */
export function checkFileAnswers(answers: FileAnswers): SiteObservation[] {
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
  const bodies = checkBodies(judged)
  // If the bytes differ, all other fields differ too.
  if (bodies.length > 0) return bodies
  return [
    ...checkCodings(judged),
    ...checkValidators(judged),
    ...checkFreshness(judged),
    ...checkFields(judged),
    ...checkDictionary(judged),
    ...checkPolicy(judged),
  ]
}

interface CheckedAnswers extends FileAnswers {
  /** The responses with a body. */
  readonly all: readonly SiteResponse[]
}

function checkBodies({ resource, isRuntime, path, all }: CheckedAnswers): SiteObservation[] {
  const broken = all.find(({ decoded }) => decoded === 'broken')
  if (broken !== undefined) return [{ code: 'broken-coding', path, detail: broken.coding }]
  if (isRuntime === true) return []
  const isOther = ({ decoded }: SiteResponse): boolean =>
    typeof decoded === 'object' && entityTagOf(decoded.sha256) !== resource.identity.entityTag
  if (all.some(isOther)) return [{ code: 'other-bytes', path }]
  const undecoded = all.find((answer) => answer.decoded === 'unknown' && !isOfBuild(resource, answer))
  return undecoded === undefined ? [] : [{ code: 'not-decoded', path, detail: undecoded.coding }]
}

function isOfBuild({ representations }: Resource, { coding, sha256 }: SiteResponse): boolean {
  return representations.some((made) => made.coding === coding && made.entityTag === entityTagOf(sha256))
}

function checkCodings({ resource, path, plain, coded, browser }: CheckedAnswers): SiteObservation[] {
  const found: SiteObservation[] = []
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

function checkValidators({ path, all, again }: CheckedAnswers): SiteObservation[] {
  if (all.some(({ fields }) => fields.etag === undefined)) return [{ code: 'no-etag', path }]
  const isShared = all.some(({ fields: { etag = '' }, sha256 }) =>
    all.some((other) => isStrong(etag) && other.fields.etag === etag && other.sha256 !== sha256),
  )
  return [
    ...(isShared ? [{ code: 'shared-etag', path } as const] : []),
    ...(again === undefined || again.status === 304 ? [] : [{ code: 'no-304', path } as const]),
  ]
}

function checkFreshness({ resource, path, all, again }: CheckedAnswers): SiteObservation[] {
  const wanted = expectedFields(resource).get('cache-control')
  const wantedAge = freshnessLifetimeSeconds(wanted)
  const other = all.find(({ fields }) => fields['cache-control'] !== wanted)
  const value = other?.fields['cache-control']
  const age = other === undefined ? wantedAge : freshnessLifetimeSeconds(value)
  const seen = { path, detail: value ?? 'missing' }
  const isTooShort = wantedAge >= longEnough && age < longEnough
  return [
    ...(isTooShort ? [{ code: 'hashed-not-kept', ...seen } as const] : []),
    ...(wantedAge === 0 && age > 0
      ? [{ code: resource.isPage ? 'page-kept' : 'file-kept', ...seen } as const]
      : []),
    ...checkPageAge(resource, path, again === undefined ? all : [...all, again]),
  ]
}

/** Finds a page that a cache stored although it needs revalidation. */
export function checkPageAge(
  resource: Resource,
  path: string,
  answers: readonly SiteResponse[],
): SiteObservation[] {
  const isToBeAsked =
    resource.isPage && freshnessLifetimeSeconds(expectedFields(resource).get('cache-control')) === 0
  const age = Math.max(...answers.map(ageOf))
  return isToBeAsked && !isCacheableByProxies(resource) && age > 0
    ? [{ code: 'page-aged', path, detail: String(age) }]
    : []
}

function isCacheableByProxies(resource: Resource): boolean {
  return [...expectedFields(resource)].some(
    ([name, value]) =>
      name === 'surrogate-control' ||
      name.endsWith('cdn-cache-control') ||
      (name === 'cache-control' && /s-maxage=[1-9]/.test(value)),
  )
}

/** Returns the age of a stored response in seconds, or at least 1 if a cache reports a hit. */
function ageOf({ fields }: Pick<SiteResponse, 'fields'>): number {
  const verdicts = ['x-cache', 'x-cache-status', 'x-proxy-cache', 'cf-cache-status'].map(
    (name) => fields[name],
  )
  const isHit = verdicts.some((verdict) => /\bhit\b/i.test(String(verdict ?? '')))
  // Other values than whole seconds are invalid (RFC 9111 §5.1).
  const seconds = /^\d{1,10}$/.test(String(fields.age)) ? Number(fields.age) : 0
  return Math.max(seconds, isHit ? 1 : 0)
}

/** A month in seconds. A longer lifetime makes no practical difference. */
const longEnough = 30 * 86_400

/** Browsers choose a lifetime if `Cache-Control` is absent (RFC 9111 §4.2.2). The check assumes a minute. */
const heuristicSeconds = 60

/** Returns the seconds for which a browser reuses a response without revalidation (RFC 9111 §5.2.2). */
export function freshnessLifetimeSeconds(cacheControl: string | undefined): number {
  if (cacheControl === undefined) return heuristicSeconds
  if (/\bno-(?:cache|store)\b/i.test(cacheControl)) return 0
  const seconds = /(?:^|[\s,])max-age="?(\d+)/i.exec(cacheControl)?.[1]
  return seconds === undefined ? heuristicSeconds : Number(seconds)
}

/** The fields of an enforced and of a reported policy. */
const policyFields: readonly string[] = ['content-security-policy', 'content-security-policy-report-only']

/** Headers with a check of their own, and headers of the connection. */
const fieldsCheckedElsewhere: ReadonlySet<string> = new Set([
  ...policyFields,
  'accept-ranges',
  'cache-control',
  'content-encoding',
  'content-length',
  'content-type',
  'etag',
  'last-modified',
  'vary',
])

function checkFields({ resource, path, all }: CheckedAnswers): SiteObservation[] {
  const found: SiteObservation[] = []
  if (resource.vary !== undefined && !all.every((answer) => variesBy(answer)))
    found.push({ code: 'no-vary', path })
  const wanted = mediaTypeEssence(resource.mediaType)
  const other = all.find(({ fields }) => mediaTypeEssence(fields['content-type']) !== wanted)
  if (other !== undefined)
    found.push({ code: 'media-type', path, detail: other.fields['content-type'] ?? 'no type' })
  for (const name of expectedFields(resource).keys()) {
    const isLost = !fieldsCheckedElsewhere.has(name) && all.some(({ fields }) => !Object.hasOwn(fields, name))
    if (isLost) found.push({ code: 'field-lost', path, detail: name })
  }
  return found
}

/** Finds a policy that is missing, has another mode, or differs from the build's, or a second policy. */
function checkPolicy({
  resource,
  path,
  all,
  policyByEnvironment: left = [],
}: CheckedAnswers): SiteObservation[] {
  const directivesOf = (policy: string): string =>
    policy
      .split(';')
      .map((directive) => directive.trim())
      .filter((directive) => !left.includes(directive.split(' ')[0] ?? ''))
      .join('; ')
  return policyFields.flatMap((name): SiteObservation[] => {
    const wanted = expectedFields(resource).get(name)
    if (wanted === undefined) return []
    const isOther = ({ fields }: SiteResponse): boolean => {
      const value = fields[name]
      return typeof value === 'string' && directivesOf(value) !== directivesOf(wanted)
    }
    if (all.some(isOther)) return [{ code: 'policy-changed', path, detail: name }]
    if (all.every(({ fields }) => Object.hasOwn(fields, name))) return []
    const arrived = policyFields.find((field) => all.every(({ fields }) => Object.hasOwn(fields, field)))
    return [
      arrived === undefined
        ? { code: 'policy-lost', path, detail: name }
        : { code: 'policy-mode', path, detail: arrived },
    ]
  })
}

/** Finds a cache that may send the delta of one visitor to another. */
function checkDictionary({ path, all, offering }: CheckedAnswers): SiteObservation[] {
  if (offering === undefined) return []
  const isDelta = offering.coding === 'dcb' || offering.coding === 'dcz'
  return [
    ...([...all, offering].every((answer) => variesBy(answer, 'available-dictionary'))
      ? []
      : [{ code: 'no-dictionary-vary', path } as const]),
    ...(isDelta ? [{ code: 'unasked-delta', path, detail: offering.coding } as const] : []),
  ]
}

function variesBy({ fields: { vary = '' } }: SiteResponse, name = 'accept-encoding'): boolean {
  const names = vary.toLowerCase().split(/[\s,]+/)
  return names.includes('*') || names.includes(name)
}

/** Returns a media type without parameters. All names of JavaScript are equivalent (RFC 9239 §6). */
function mediaTypeEssence(mediaType = ''): string {
  const essence = (mediaType.split(';')[0] ?? '').trim().toLowerCase()
  return /^(?:application|text)\/(?:x-)?(?:java|ecma)script$/.test(essence) ? 'text/javascript' : essence
}

function expectedFields(resource: Resource): ReadonlyMap<string, string> {
  const pairs = fieldPairs(okAnswer(resource.identity, resource))
  return new Map(Array.from(pairs, ([name, value]) => [name.toLowerCase(), value]))
}
