import { firstField, requestHost } from '../protocol/request-head.ts'
import { buildOfReferer, isSkewMiss } from '../site/missing-asset.ts'
import { siteFor } from '../site/select-part.ts'
import type { Site } from '../site/site.ts'
import type { Exchange } from './exchange.ts'

/** A line of the JSON access log, without its level and time. */
export interface LogEntry {
  readonly client: string
  readonly method: string
  readonly target: string
  readonly protocol: string
  readonly host: string | undefined
  readonly status: number
  readonly coding: string
  readonly cache: string
  readonly bytes: number
  readonly durationMs: number | undefined
  readonly buildId: string
  readonly referer: string | undefined
  readonly userAgent: string | undefined
  readonly aborted: true | undefined
  readonly error: string | undefined
  /** The `from` of the rule that forwarded the request. */
  readonly upstream: string | undefined
  readonly upstreamStatus: number | undefined
  /** Milliseconds until the head of the target's answer. */
  readonly upstreamTime: number | undefined
  /** Whether the request asked for a hashed file of an unavailable build. */
  readonly skewMiss: true | undefined
  /** The build of the hashed file in `Referer`, if known. */
  readonly refererBuildId: string | undefined
}

/** Creates a line of the JSON log; `undefined` fields are omitted. */
export function toLogEntry(exchange: Exchange, whole: Site | undefined): LogEntry {
  const site = whole && siteFor(whole, exchange.request.url ?? '')
  const { request, address, status, coding, cache, bytes, milliseconds, isAborted, upstream } = exchange
  const { host, referer, userAgent } = readLoggedFields(request.rawHeaders)
  const isMiss = site !== undefined && wasSkewMiss(exchange, site)
  return {
    client: address,
    method: request.method ?? '',
    target: escapeControls(request.url ?? ''),
    protocol: protocolOf(request),
    host: host && escapeControls(host),
    status,
    coding: escapeControls(coding),
    cache,
    bytes,
    durationMs: rounded(milliseconds),
    buildId: site?.buildId ?? '',
    referer: referer && escapeControls(referer),
    userAgent: userAgent && escapeControls(userAgent),
    aborted: isAborted ? true : undefined,
    error: exchange.error ?? upstream?.error,
    upstream: upstream?.rule,
    upstreamStatus: upstream?.status,
    upstreamTime: rounded(upstream?.milliseconds),
    skewMiss: isMiss ? true : undefined,
    refererBuildId: isMiss && referer !== undefined ? buildOfReferer(site, referer) : undefined,
  }
}

function rounded(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : Math.round(milliseconds * 1000) / 1000
}

/** Returns whether an answer is the 404 of a hashed file of an unavailable build. */
export function wasSkewMiss({ status, request: { method = '', url = '' } }: Exchange, site: Site): boolean {
  return status === 404 && isSkewMiss(siteFor(site, url), { method, target: url })
}

/** Creates a line in the Combined Log Format: the Common Log Format, then referer and user agent. */
export function toCombinedLine(exchange: Exchange, time: Date): string {
  const { request, address, status, bytes } = exchange
  const { referer = '-', userAgent = '-' } = readLoggedFields(request.rawHeaders)
  const { method = '-' } = request
  const line = method === '-' ? method : `${method} ${request.url} ${protocolOf(request)}`
  const size = bytes === 0 ? '-' : bytes
  return `${address || '-'} - - [${formatTime(time)}] "${escapeQuoted(line)}" ${status} ${size} "${escapeQuoted(referer)}" "${escapeQuoted(userAgent)}"`
}

function protocolOf({ httpVersion }: Exchange['request']): string {
  return httpVersion === '' ? '' : `HTTP/${httpVersion}`
}

interface LoggedFields {
  readonly host: string | undefined
  readonly referer: string | undefined
  readonly userAgent: string | undefined
}

function readLoggedFields(fields: readonly string[]): LoggedFields {
  return {
    host: requestHost(fields),
    referer: firstField(fields, 'referer'),
    userAgent: firstField(fields, 'user-agent'),
  }
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Formats a time like `21/Nov/2026:19:05:53 +0000`. */
function formatTime(time: Date): string {
  const [date = '', clock = ''] = time.toISOString().split('T')
  const [year, , day] = date.split('-')
  return `${day}/${months[time.getUTCMonth()]}/${year}:${clock.slice(0, 8)} +0000`
}

/** The maximum length of logged texts; a client may send 16 KiB in each field. */
const longest = 1024

// oxlint-disable-next-line no-control-regex -- these are what it finds
const controls = /[\u0000-\u001F\u007F-\u009F]/g
const beyondQuotedAscii = /[^\u0020-\u007E]|["\\]/g

/** Truncates a text from the client and escapes its control characters. JSON adds its own escapes. */
export function escapeControls(text: string): string {
  return clip(text).replace(controls, toEscape)
}

/** Escapes a text from the client like Apache: `\"`, `\\`, and `\xhh` for everything beyond ASCII. */
export function escapeQuoted(text: string): string {
  return clip(text).replace(beyondQuotedAscii, toEscape)
}

function clip(text: string): string {
  return text.length > longest ? `${text.slice(0, longest)}...` : text
}

function toEscape(character: string): string {
  if (character === '"' || character === '\\') return `\\${character}`
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`
}
