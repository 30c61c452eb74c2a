import type { OutgoingHttpHeaders } from 'node:http2'
import type { Random } from '../soak/soak-random.ts'
import type { ScriptVocabulary } from './random-script.ts'

type Values = readonly [string, ...string[]]

const hosts = ['example.org', 'a:8080', '127.0.0.1'] as const

/**
 * Pseudo-fields that no browser sends. An empty string omits the field. No path has a fragment because Node
 * rejects it, and h2 drops it before the engine sees it.
 */
const oddPseudoFields: readonly [readonly [string, Values], ...(readonly [string, Values])[]] = [
  [':method', ['OPTIONS', 'POST', 'DELETE', 'PATCH', 'TRACE', 'get', 'PRI', 'X-Y']],
  [':scheme', ['http', 'HTTPS', 'ftp', 'file', 'x']],
  [
    ':authority',
    ['EXAMPLE.org', 'example.org:443', 'other.example', 'a/b', 'a:b', '[::1]', 'a,b', 'u@a', ''],
  ],
  [':path', ['*', 'x', '//', '/%', '/%2e', '/%00', '/?', '/..', '/\\', '/a"b', 'http://a/']],
]

/** Fields with a meaning for some recipient, with valid and invalid values. */
const oddFields: readonly [readonly [string, Values], ...(readonly [string, Values])[]] = [
  ['host', ['example.org', 'EXAMPLE.org', 'other.example', 'a/b', '']],
  ['accept-encoding', ['', '*', '*;q=0', 'identity;q=0', 'br;q=', 'gzip,gzip', `${'a,'.repeat(200)}br`]],
  ['if-none-match', ['*', '"x"', 'W/"x"', 'w/"x"', '"x', '"x","y"', '""', '', ',']],
  ['if-modified-since', ['x', '', 'Sun, 06 Nov 1994 08:49:37 GMT', 'Fri, 31 Dec 2100 23:59:59 GMT']],
  ['if-match', ['*', '"x"', '', 'x']],
  ['if-unmodified-since', ['Sun, 06 Nov 1994 08:49:37 GMT', 'Fri, 31 Dec 2100 23:59:59 GMT', 'x']],
  ['range', ['bytes=0-0', 'bytes=-1', 'bytes=9-', 'bytes=2-1', 'bytes=', 'x', '', 'bytes=0-0,2-2']],
  ['if-range', ['"x"', 'W/"x"', 'x', '', 'Fri, 31 Dec 2100 23:59:59 GMT']],
  ['content-length', ['0', '00']],
  ['authorization', ['Basic YTpi', 'Basic  YTpi', 'Basic YTpi x', 'x', '']],
  ['available-dictionary', [':AA==:', 'x', '', '::']],
  ['sec-fetch-mode', ['navigate', 'Navigate', 'x', '']],
  ['origin', ['https://other.example', 'null', '']],
  ['accept', ['text/html', 'text/html;q=0', 'x', '']],
  ['te', ['trailers']],
  ['via', ['1.1 a', 'x']],
  ['max-forwards', ['0', 'x']],
  ['cookie', ['a=b', `a=${'b'.repeat(4000)}`]],
]

/** Creates random fields of a request without a body: 60 % like browsers, 40 % unusual. */
export function randomHttp2Request(random: Random, vocabulary: ScriptVocabulary): OutgoingHttpHeaders {
  const fields = plainRequest(random, vocabulary)
  if (random.chance(0.6)) return fields
  // Only one pseudo-field is changed. For some combinations, h2 reports less than nghttp2.
  if (random.chance(0.5)) {
    const [name, values] = random.pick(oddPseudoFields)
    fields[name] = random.pick(values)
  }
  for (let count = random.integer(3); count > 0; count -= 1) {
    const [name, values] = random.pick(oddFields)
    const value = random.pick(values)
    // A list may have two lines.
    const isTwice = /^(?:accept|via)/.test(name) && random.chance(0.2)
    fields[name] = isTwice ? [value, random.pick(values)] : value
  }
  // Without a host, Node's client sends the address. The two engines have different ports.
  if (fields[':authority'] === '') {
    delete fields[':authority']
    fields['host'] ??= random.pick(hosts)
  }
  return fields
}

function plainRequest(random: Random, vocabulary: ScriptVocabulary): OutgoingHttpHeaders {
  const { targets, entityTags, lastModified, dictionaries } = vocabulary
  const path = random.chance(0.9) ? random.pick(targets) : random.pick(['/users/1', '/none.js'])
  const fields: OutgoingHttpHeaders = {
    ':method': random.chance(0.1) ? 'HEAD' : 'GET',
    ':authority': random.pick(hosts),
    ':path': random.chance(0.1) ? `${path}?v=${random.integer(9)}` : path,
  }
  const add = (probability: number, name: string, values: Values): void => {
    if (random.chance(probability)) fields[name] = random.pick(values)
  }
  add(0.8, 'accept-encoding', [
    'gzip, deflate, br, zstd',
    'gzip, deflate, br, zstd, dcb, dcz',
    'gzip',
    'identity',
  ])
  add(0.5, 'accept', ['*/*', 'text/html,application/xhtml+xml,*/*;q=0.8'])
  add(0.4, 'sec-fetch-mode', ['navigate', 'no-cors', 'cors'])
  add(0.1, 'if-none-match', [...entityTags, `W/${random.pick(entityTags)}`])
  add(0.1, 'if-modified-since', [new Date(lastModified).toUTCString()])
  add(0.2, 'available-dictionary', dictionaries)
  return fields
}
