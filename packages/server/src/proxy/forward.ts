import type { IncomingMessage, ServerResponse } from 'node:http'
import { parseProxyTrust } from '../operations/trust-proxy.ts'
import { createRequestFieldsReader } from '../send/read-request-fields.ts'
import { runWhenWritable } from '../send/run-when-writable.ts'
import { sendAnswer } from '../send/send-answer.ts'
import type { ProxiedContent, Site } from '../site/site.ts'
import { createFieldReader } from './fields-to-target.ts'
import { ForwardedExchange, type ForwardedRequest, noteUpstream } from './forwarded-exchange.ts'
import { failureAnswer, type FailureStatus } from './proxy-failure.ts'
import { createTargetPools } from './target-pools.ts'

/** Forwards a request to the target of a rule. */
export type Forward = (request: IncomingMessage, response: ServerResponse, content: ProxiedContent) => void

/** The options of a proxy. */
export interface ProxyContext {
  readonly currentSite: () => Site
  /** The proxies to trust; absent without any. */
  readonly trustProxy?: string | number | undefined
  /** Reports the failure of a target. */
  readonly onProblem: (problem: Error) => void
}

/** Forwards requests to the targets of rules. */
export interface Proxy {
  readonly forward: Forward
  readonly close: () => Promise<void>
}

/** The causes of a target that does not run, or has another address. */
const unreachable: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN'])

/** @throws OperatorError without `undici`. */
export async function openProxy({ currentSite, trustProxy, onProblem }: ProxyContext): Promise<Proxy> {
  const pools = await createTargetPools()
  const trust = trustProxy === undefined ? undefined : parseProxyTrust(trustProxy)
  const readFields = createFieldReader(trust)
  const readRequestFields = createRequestFieldsReader()
  const reported = new Map<string, number>()

  /** Reports each cause once a second at most. */
  const report = ({ rule }: ProxiedContent, cause: string, problem = 'failed'): void => {
    const { origin, socketPath } = rule.proxy
    const hint = unreachable.has(cause) ? '. Start it, or correct the address.' : ''
    const text = `the target of the rule ${rule.from} ${problem}: ${socketPath ?? origin}: ${cause}${hint}`
    const now = performance.now()
    if (now - (reported.get(text) ?? Number.NEGATIVE_INFINITY) < 1000) return
    reported.set(text, now)
    onProblem(new Error(text))
  }

  const cut = ({ content }: ForwardedRequest, cause: string): void =>
    report(content, cause, 'failed within its answer')

  const fail = (exchange: ForwardedRequest, status: FailureStatus, cause?: string): void => {
    const { request, response, content } = exchange
    if (cause !== undefined) report(content, cause)
    noteUpstream(response, { error: cause })
    // The client may still send its body.
    if (request.httpVersionMajor === 1 && !request.complete) response.setHeader('Connection', 'close')
    sendAnswer(response, failureAnswer(currentSite(), readRequestFields(request), status))
  }

  return {
    forward(request, response, content) {
      runWhenWritable(response, () => {
        new ForwardedExchange(
          { request, response, content },
          { pools, fail, cut, earlyHints: currentSite().earlyHints },
        ).begin(readFields(request, content.rule.proxy))
      })
    },
    close: pools.close,
  }
}
