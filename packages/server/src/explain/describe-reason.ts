import { shortId } from '@serve-dist/foundation/text/short-id'
import { buildIdPath, contentCodings, isSourceMap, keptListPath } from '@serve-dist/manifest'
import { type CodingWeights, codingWeights } from '../protocol/accept-encoding.ts'
import type { RequestFields } from '../protocol/request-fields.ts'
import { matchRule } from '../site/decide.ts'
import type { Reason } from '../site/decision-trace.ts'
import { isSkewMiss } from '../site/missing-asset.ts'
import { isProxying, type RedirectMatch } from '../site/redirects.ts'
import type { Entry, Representation, Resource, Site } from '../site/site.ts'
import type { HttpTopic } from './http-topic.ts'

/** A step of an answer, as text. */
export interface ExplainedStep {
  /** The number of the step in `hosts/handler.ts`. */
  readonly step: number
  readonly topic: HttpTopic
  readonly text: string
  /** A line for each alternative. */
  readonly details?: readonly string[]
}

/** Describes a reason of `decide`. Returns `undefined` for the last one, which the heading of an explanation contains. */
export function describeReason(
  reason: Reason,
  site: Site,
  request: RequestFields,
): ExplainedStep | undefined {
  const { method, target } = request
  switch (reason.code) {
    case 'malformed-target':
      return path(`${target} is malformed: a broken escape, or a control character`)
    case 'unclean-path':
      return path(`${target} has a dot segment, an empty segment or a backslash, which are never repaired`)
    case 'asterisk-target':
      return path('* means the whole server')
    case 'known-path':
      return describeEntry(site, reason.path, reason.entry)
    case 'unknown-path':
      return describeAbsence(site, reason.path)

    case 'unavailable':
      return unknown(`${ruleOf(reason.match)}: navigations get its page, other requests an empty 503`)
    case 'proxied':
      return proxied(
        `${ruleOf(reason)} forwards the request to ${reason.rule.proxy.socketPath ?? reason.rule.proxy.origin} as ${reason.target}`,
      )
    case 'proxied-dot-segment':
      return proxied(`${ruleOf(reason)} does not forward paths with dot segments`)
    case 'proxied-trace':
      return proxied(`${ruleOf(reason)} does not forward TRACE`)
    case 'redirect-rule':
      return unknown(`${ruleOf(reason.match)}: ${reason.match.status} to ${reason.match.location}`)
    case 'fallback':
      return unknown(
        reason.match.rule === undefined
          ? `the fallback for navigations: ${reason.match.location}, ${reason.match.status} (fetch would send -H 'Sec-Fetch-Mode: cors')`
          : `${ruleOf(reason.match)}: ${reason.match.target?.path}`,
      )
    case 'navigations-only':
      return unknown(
        `${reason.match.rule === undefined ? 'the fallback' : ruleOf(reason.match)} is for navigations (-H 'Sec-Fetch-Mode: navigate' sends one)`,
      )
    case 'rule-not-for-assets':
      return unknown(
        `${ruleOf(reason.match)} also matches paths outside ${site.assetsPath}, so it does not apply to files there`,
      )
    case 'no-fallback':
      return unknown('there is no fallback for unknown paths (appType, --fallback, --ssr)')
    case 'outside-base':
      return unknown('there is no fallback outside the base')
    case 'no-page-for-assets':
      return unknown(`no page answers for a file under ${site.assetsPath}`)
    case 'no-fallback-page':
      return unknown('the build has no page for the fallback')

    case 'unknown-path-method':
      return forMethod(`${method} of an unknown path`)
    case 'rule-makes-path-known':
      return forMethod(`${ruleOf(reason.match)} makes the path known`)
    case 'other-method':
      return forMethod(
        method === 'OPTIONS'
          ? 'OPTIONS names the methods of the path, and answers preflights of files that other origins may use'
          : `${method} is not GET, HEAD or OPTIONS`,
      )
    case 'head':
      return forMethod('HEAD has the fields of GET, and no body')

    case 'representation':
      return describeSelection(reason.resource, request, reason.selected)
    case 'no-deltas':
      return delta(request, 'the file has no deltas')
    case 'unknown-dictionary':
      return delta(request, 'there is no delta from this dictionary')
    case 'delta-beside-range':
      return delta(request, 'ignored, because the request has a Range')
    case 'delta-coding-not-accepted':
      return delta(request, 'ignored, because Accept-Encoding names neither dcb nor dcz')
    case 'delta-not-smaller':
      return delta(request, 'the delta is not smaller')
    case 'delta-not-readable':
      return delta(request, 'the page of another origin may not read the file')
    case 'delta':
      return delta(request, `the ${reason.delta.coding} delta, ${reason.delta.bytes.size} bytes`)

    case 'if-match':
      return condition(reason, `If-Match: ${request.ifMatch}`, request.ifUnmodifiedSince)
    case 'if-unmodified-since':
      return condition(reason, `If-Unmodified-Since: ${request.ifUnmodifiedSince}`)
    case 'if-none-match':
      return condition(reason, `If-None-Match: ${request.ifNoneMatch}`, request.ifModifiedSince)
    case 'if-modified-since':
      return condition(reason, `If-Modified-Since: ${request.ifModifiedSince}`)

    case 'range-not-for-head':
      return range(request, 'ignored: ranges are only for GET')
    case 'range-without-identity':
      return range(request, 'ignored: Accept-Encoding refuses identity')
    case 'if-range-fails':
      return range(request, `ignored: If-Range: ${request.ifRange} names other bytes`)
    case 'range-ignored':
      return range(request, 'ignored: it is not one range of bytes')
    case 'sent':
      return undefined
    default: {
      const { size } = reason.resource.identity.bytes
      return range(
        request,
        reason.range === 'unsatisfiable'
          ? `it begins beyond the ${size} bytes of identity`
          : `bytes ${reason.range.first} to ${reason.range.last} of the ${size} of identity`,
      )
    }
  }
}

function path(text: string): ExplainedStep {
  return { step: 2, topic: 'Paths', text }
}

function unknown(text: string): ExplainedStep {
  return { step: 3, topic: 'Unknown paths', text }
}

function proxied(text: string): ExplainedStep {
  return { step: 3, topic: 'Proxied paths', text }
}

function forMethod(text: string): ExplainedStep {
  return { step: 4, topic: 'Methods', text }
}

function delta({ availableDictionary }: RequestFields, text: string): ExplainedStep {
  return { step: 5, topic: 'Deltas', text: `Available-Dictionary: ${availableDictionary}: ${text}` }
}

function range(request: RequestFields, text: string): ExplainedStep {
  return { step: 5, topic: 'Ranges', text: `Range: ${request.range}: ${text}` }
}

type Precondition = Extract<Reason, { readonly status: 304 | 412 | undefined }>

/** @param ignored - a date, which entity tags override (RFC 9110 §13.2.2). */
function condition(
  { status, resource, selected }: Precondition,
  field: string,
  ignored?: string,
): ExplainedStep {
  const outcome = status === undefined ? 'holds' : `answers ${status}`
  const validators = `ETag ${selected.entityTag}, Last-Modified ${resource.lastModifiedField ?? 'none'}`
  const details =
    ignored === undefined ? [] : [`the date ${ignored} is ignored, because the entity tag takes precedence`]
  return { step: 6, topic: 'Conditions', text: `${field} ${outcome} (${validators})`, details }
}

/** Describes why the selected representation is chosen and the others are not. */
function describeSelection(
  { representations }: Resource,
  { acceptEncoding }: RequestFields,
  selected: Representation | undefined,
): ExplainedStep {
  const weights = codingWeights(acceptEncoding)
  const field = acceptEncoding === undefined ? 'no Accept-Encoding' : `Accept-Encoding: ${acceptEncoding}`
  const chosen =
    selected === undefined ? 'no representation is acceptable' : `${selected.coding} is wanted most`
  const all = representations.map((each) => {
    const reason = each === selected ? 'chosen' : reasonAgainst(each, selected, weights)
    return `${each.coding}, ${each.bytes.size} bytes: ${reason} (${weightOf(weights[each.coding])})`
  })
  const missing = contentCodings
    .filter(({ name }) => representations.every(({ coding }) => coding !== name))
    .map(({ name }) => `${name}: the build has no such variant of this file`)
  return { step: 5, topic: 'Representations', text: `${field}: ${chosen}`, details: [...all, ...missing] }
}

function reasonAgainst(
  { coding }: Representation,
  selected: Representation | undefined,
  weights: CodingWeights,
): string {
  if (weights[coding] === 0) return 'not accepted'
  const isTie = selected !== undefined && weights[coding] === weights[selected.coding]
  return isTie ? "wanted equally, but later in the server's order" : 'wanted less'
}

/** Formats a weight, which is in ten-thousandths. 1 is the weight of identity if the header does not name it. */
function weightOf(weight: number): string {
  return weight === 1 ? 'not named, acceptable' : `q=${weight / 10_000}`
}

function ruleOf({ rule }: Pick<RedirectMatch, 'rule'>): string {
  // The next words name the target.
  if (isProxying(rule)) return `the rule ${rule.from}`
  const query = Array.from(rule?.query ?? [], ([name, value]) => `${name}=${value} `).join('')
  return `the rule ${rule?.from} ${query}${rule?.to} ${rule?.status}${rule?.force === true ? '!' : ''}`
}

/** Describes the file or redirect of a path, or the rule that overrides it. */
function describeEntry(site: Site, requested: string, entry: Entry): ExplainedStep {
  const forced = matchRule(site, requested, undefined)
  if (entry.kind === 'hidden') {
    const pages = entry.status === 503 ? ': navigations get its page, other requests an empty 503' : ''
    return path(`${ruleOf(forced ?? {})} hides ${requested}${pages}`)
  }
  if (entry.kind === 'proxied')
    return { step: 2, topic: 'Proxied paths', text: `${ruleOf(entry)} overrides ${requested}` }
  if (entry.kind === 'redirect') {
    const why = forced === undefined ? 'the build has this page at another path' : ruleOf(forced)
    return path(`${why}: ${entry.status} to ${entry.location}`)
  }
  const { path: file, buildId } = entry
  if (forced?.target === entry) return path(`${ruleOf(forced)} serves ${file} there`)
  if (buildId !== undefined) {
    const text = `${requested} is the file ${file} of the earlier build ${shortId(buildId)}: the current build has no file there`
    return { step: 2, topic: 'Earlier builds', text }
  }
  if (file === buildIdPath && !site.files.has(buildIdPath))
    return path(`${requested} names the current build`)
  if (file === keptListPath && !site.files.has(keptListPath))
    return path(`${requested} lists the hashed files for serve-dist carry`)
  const text = `${requested} is the file ${file} of the build`
  const names = site.environment?.path === file ? site.environment.names : undefined
  return path(
    names === undefined
      ? text
      : `${text}, which the server generates when it loads the build, from: ${names.join(', ')}`,
  )
}

/** Describes why a path is not in the table, and suggests a similar one. */
function describeAbsence(site: Site, requested: string): ExplainedStep {
  if (!requested.startsWith(site.base)) return path(`${requested} is outside the base ${site.base}`)
  const coding = contentCodings.find(({ extension }) => requested.endsWith(extension))
  const original = coding && site.table.get(requested.slice(0, -coding.extension.length))
  if (original?.kind === 'resource') {
    return path(
      `${requested} is a variant of ${original.path}: request that file with Accept-Encoding: ${coding?.name}`,
    )
  }
  if (site.sourceMaps === 'deny' && isSourceMap(requested)) {
    return path(`${requested} is a source map, and a rule denies source maps`)
  }
  if (/\/\.(?!well-known(?:\/|$))/.test(requested)) {
    return path(`${requested} has a hidden name, which is never served`)
  }
  if (isSkewMiss(site, { method: 'GET', target: requested })) {
    const text = `${requested} is a hashed file that no kept build contains: a tab with another build may request it`
    return { step: 2, topic: 'Earlier builds', text }
  }
  const alike = [...site.table.keys()].find((key) => loosely(key) === loosely(requested))
  return path(
    alike === undefined
      ? `${requested} is not a path of the build`
      : `${requested} is not ${alike}: names are exact`,
  )
}

/** Removes differences that are easy to overlook: the case of letters and their Unicode composition. */
function loosely(encoded: string): string {
  // The path is well-formed, because it comes from the table or `decide` has parsed it.
  return decodeURIComponent(encoded).normalize('NFC').toLowerCase()
}
