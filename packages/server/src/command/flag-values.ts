import { validateHeaderName, validateHeaderValue } from 'node:http'
import { isIP } from 'node:net'
import { completeProxyAddress, isProxyRule, type RedirectRule, s, type Schema } from '@serve-dist/manifest'
import { maximumTimeout } from '../protocol/connection-limits.ts'
import type { OpsAddress } from '../operations/ops-server.ts'

// Parsers for the values of flags. Each returns the value, or throws a TypeError that says what was expected.

const timeUnits: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

export function createFlagParser<Value>(schema: Schema<Value>): (given: unknown) => Value {
  return (given) => s.read(schema, given, '', ([problem]) => new TypeError(problem))
}

/** A limit against typing errors, which could start thousands of processes. */
const mostWorkers = 1024

/** Returns the milliseconds of a duration with a unit: `500ms`, `10s`, `1.5m`, `1h`, or `0`. */
export function parseDuration(text: string): number {
  const milliseconds = millisecondsOf(text, /^(\d+(?:\.\d+)?) ?(ms|s|m|h)$/i)
  if (milliseconds <= maximumTimeout) return milliseconds
  throw new TypeError(`expected a duration such as 500ms, 10s or 1m, 24 days at most, found "${text}"`)
}

/** Returns the milliseconds of an age with a unit: `7d`, `2w`, `12h`, or `0`. */
export function parseAge(text: string): number {
  const milliseconds = millisecondsOf(text, /^(\d+(?:\.\d+)?) ?(s|m|h|d|w)$/i)
  if (Number.isSafeInteger(milliseconds)) return milliseconds
  throw new TypeError(`expected a time such as 12h, 7d or 2w, found "${text}"`)
}

/** Returns `NaN` if the text has another form. */
function millisecondsOf(text: string, form: RegExp): number {
  const match = form.exec(text.trim())
  const unit = timeUnits[match?.[2]?.toLowerCase() ?? ''] ?? Number.NaN
  return text.trim() === '0' ? 0 : Math.round(Number(match?.[1]) * unit)
}

export function parseCount(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new TypeError(`expected a whole number, 0 or more, found ${JSON.stringify(text)}`)
}

/** Parses a number of workers, or `auto` for one per usable core. */
export function parseWorkers(text: string): number | 'auto' {
  if (text === 'auto') return text
  const count = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN
  if (count >= 1 && count <= mostWorkers) return count
  throw new TypeError(`expected auto or a whole number from 1 to ${mostWorkers}, found "${text}"`)
}

export interface SocketPlace {
  readonly path: string
  readonly mode?: number
}

/** Parses a path with optional permissions in octal digits: `/run/site.sock`, `/run/site.sock:660`. */
export function parseSocket(text: string): SocketPlace {
  const [, path = '', digits] = /^(.*?)(?::(\d+))?$/s.exec(text) ?? []
  if (digits === undefined) return { path }
  if (/^0?[0-7]{3}$/.test(digits)) return { path, mode: Number.parseInt(digits, 8) }
  throw new TypeError(`expected a path and permissions in octal digits such as ${path}:660, found "${text}"`)
}

/** Parses a port number; 0 picks a free port. */
export function parsePort(text: string): number {
  return createFlagParser(s.portNumber)(/^\d{1,5}$/.test(text) ? Number(text) : text)
}

/** Parses `/api=http://backend:3000` to a rule that precedes the build. Commas separate several. */
export function parseProxies(text: string): readonly RedirectRule[] {
  return text.split(',').map((each) => {
    const written = each.trim()
    const [, path = '', address = ''] = /^(\/[^=]*?)\/?\*?\s*=\s*(.*?)(?::splat)?$/s.exec(written) ?? []
    const from = `${path}/*`.replace('//', '/')
    const rule = { from, to: completeProxyAddress(address, { from }), status: 200, force: true } as const
    if (isProxyRule(rule) && s.problemsOf(s.redirectRule, rule).length === 0) return rule
    throw new TypeError(`expected a path and an address such as /api=http://backend:3000, found "${written}"`)
  })
}

/** Parses the location of a store. An empty text, for example of an unset variable, would mean the working directory. */
export function parseStorePlace(text: string): string {
  if (text !== '') return text
  throw new TypeError('expected a folder, or s3://bucket/prefix, found an empty text')
}

/** Parses `host:port`, `[::1]:9090`, `:9090` or `*:9090` for all addresses, or a port of this machine. */
export function parseOpsAddress(text: string): OpsAddress {
  const [, bracketed, name, separator, port = ''] =
    /^(?:(?:\[([\da-f:.]+)\]|([^:[\]]*))(:))?(\d{1,5})$/i.exec(text) ?? []
  if (port === '' || Number(port) > 65_535) {
    throw new TypeError(
      `expected host:port, such as 127.0.0.1:9090, a port of this machine, or :9090 for all addresses, found "${text}"`,
    )
  }
  const host = bracketed ?? name ?? ''
  if (host !== '') return { host, port: Number(port) }
  return { host: separator === undefined ? '127.0.0.1' : '*', port: Number(port) }
}

/** The address to connect to for a host and port. */
export interface ResolvedAddress {
  readonly host: string
  readonly port: number
  readonly address: string
}

/** Parses `example.org:443:127.0.0.1`, the format of curl's `--resolve`. The address can be in brackets. */
export function parseResolve(text: string): ResolvedAddress {
  const [, host = '', port = '', written = ''] = /^([^:]+):(\d{1,5}):(.+)$/.exec(text) ?? []
  const address = written.replaceAll(/^\[|\]$/g, '')
  if (isIP(address) !== 0) return { host: host.toLowerCase(), port: parsePort(port), address }
  throw new TypeError(`expected host:port:address, such as example.org:443:127.0.0.1, found "${text}"`)
}

/** Parses a request header and returns its name and value. */
export function parseField(text: string): readonly [string, string] {
  const [, name = '', value = ''] = /^([^:]+?)[ \t]*:[ \t]*(.*)$/s.exec(text) ?? []
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return [name, value]
  } catch {
    // Not in the message: the value may be a password, and logs keep messages.
    throw new TypeError(
      'expected a header such as "Authorization: Bearer …" in one line (the value is not shown, because it may be a secret)',
    )
  }
}
