import type { Engine, EngineTable } from '@serve-dist/engine'
import type { IncomingMessage } from 'node:http'
import { findField, readHost, requestHost } from '../protocol/request-head.ts'
import type { BasicAuth } from '../site/site.ts'
import type { HostMatcher } from '../transport/allow-hosts.ts'
import type { FlatSite } from './engine-table.ts'

/** Teaches the engine the header values that it may answer without Node. */
export interface HeaderValueCache {
  /** Passes the answers of a site to the engine, with their choices for each known value. */
  readonly setAnswers: (site: FlatSite) => void
  /** Lets the engine answer the next request with the same `Accept-Encoding` and `Host`. */
  readonly learn: (request: Pick<IncomingMessage, 'method' | 'rawHeaders'>) => void
  /** Lets the engine answer requests for what a rule protects with the same `Authorization`, until the next site. */
  readonly learnAuthorization: (rule: BasicAuth, value: string) => void
}

type HeaderValueEngine = Pick<
  Engine,
  'setTable' | 'learnCoding' | 'forgetCodings' | 'learnHost' | 'forgetHosts' | 'learnAuthorization'
>

/** The same limits as in `codingWeights`. */
const maximumCodings = 256
const maximumHosts = 1024
/** Values that Node and the engine parse identically. */
const cacheableValue = /^[\x20-\x7E]{1,256}$/

/** @param isAllowed - returns whether the server accepts a well-formed host. */
export function createHeaderValueCache(engine: HeaderValueEngine, isAllowed: HostMatcher): HeaderValueCache {
  const codings = new Set<string>()
  const hosts = new Set<string>()
  /** The only parts of the site that are kept here. */
  let choicesFor: FlatSite['choicesFor'] | undefined
  let rules: FlatSite['rules'] = []

  function learnCoding(value: string): void {
    if (choicesFor === undefined || codings.has(value) || !cacheableValue.test(value)) return
    if (codings.size >= maximumCodings) {
      codings.clear()
      engine.forgetCodings()
    }
    codings.add(value)
    engine.learnCoding(value, choicesFor(value))
  }

  function learnHost(value: string): void {
    if (hosts.has(value) || !cacheableValue.test(value)) return
    if (readHost(value) === undefined || !isAllowed(value)) return
    if (hosts.size >= maximumHosts) {
      hosts.clear()
      engine.forgetHosts()
    }
    hosts.add(value)
    engine.learnHost(value)
  }

  return {
    setAnswers(site) {
      ;({ choicesFor, rules } = site)
      engine.setTable(tableOf(site, codings))
    },
    learn({ method, rawHeaders }) {
      if (method !== 'GET' && method !== 'HEAD') return
      const at = findField(rawHeaders, 'accept-encoding')
      // Two lines form one list.
      if (at !== -1 && findField(rawHeaders, 'accept-encoding', at + 1) === -1)
        learnCoding(rawHeaders[at] ?? '')
      learnHost(requestHost(rawHeaders) ?? '')
    },
    learnAuthorization(rule, value) {
      const number = 1 + rules.indexOf(rule)
      if (number > 0 && cacheableValue.test(value)) engine.learnAuthorization(number, value)
    },
  }
}

function tableOf(
  { choicesFor, rules: _rules, ...answers }: FlatSite,
  known: ReadonlySet<string>,
): EngineTable {
  const choices = Buffer.concat([undefined, ...known].map((value) => choicesFor(value)))
  return { ...answers, codings: ['', ...known], choices }
}
