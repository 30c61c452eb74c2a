import type { ByteRange } from '../protocol/byte-range.ts'
import type { RequestFields } from '../protocol/request-fields.ts'
import { parseRequestPath } from '../protocol/request-path.ts'
import { healthy } from '../site/answers.ts'
import { decide, type UnknownPathFallback } from '../site/decide.ts'
import type { Reason } from '../site/decision-trace.ts'
import { isExceptedPath } from '../site/is-excepted-path.ts'
import { isHealthPath } from '../site/is-health-path.ts'
import type { Answer, Representation, Resource, Site } from '../site/site.ts'
import { describeReason, type ExplainedStep } from './describe-reason.ts'

/** An answer and the steps that lead to it. */
export interface Explanation {
  /** `undefined` if the path is unknown. The host then answers 404 or passes the request on. */
  readonly answer: Answer | undefined
  readonly steps: readonly ExplainedStep[]
  readonly resource?: Resource | undefined
  readonly representation?: Representation | undefined
  readonly range?: ByteRange | undefined
}

/**
 * Explains the answer of `decide` by the reasons that it reports.
 *
 * @param fallback - the fallback for `decide`.
 */
export function explain(site: Site, request: RequestFields, fallback: UnknownPathFallback): Explanation {
  if (isHealthPath(site, request.target)) {
    const text = `${site.health} is the path of health checks, which the server answers first`
    return { answer: healthy, steps: [{ step: 1, topic: 'Paths', text }] }
  }
  const reasons: Reason[] = []
  const answer = decide(site, request, fallback, (reason) => {
    reasons.push(reason)
    return undefined
  })
  const sent = reasons.find((reason) => reason.code === 'sent')
  const { resource } = reasons.findLast((reason) => 'resource' in reason) ?? {}
  return {
    answer,
    steps: [
      ...(asksForCredentials(site, request.target) ? [credentialsStep] : []),
      ...reasons.flatMap((reason) => describeReason(reason, site, request) ?? []),
    ],
    // A plain 404 or 405 has no file, even if the path has one.
    resource: answer?.status === 404 || answer?.status === 405 ? sent?.resource : resource,
    representation: sent?.representation,
    range: sent?.range,
  }
}

const credentialsStep: ExplainedStep = {
  step: 1,
  topic: 'Paths',
  text: 'basicAuth: requests without accepted credentials get 401, others the following answer',
}

function asksForCredentials({ basicAuth }: Site, target: string): boolean {
  const parsed = parseRequestPath(target)
  if (basicAuth === undefined || parsed === 'malformed') return basicAuth !== undefined
  return parsed === 'unclean' || !isExceptedPath(basicAuth, parsed.path)
}
