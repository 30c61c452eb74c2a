import { groupDigits } from '@serve-dist/foundation/text/group-digits'
import { OperatorError } from '@serve-dist/manifest'
import { forEachConcurrently } from '@serve-dist/foundation/concurrency/for-each-concurrently'
import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { maximumTimeout } from '../protocol/connection-limits.ts'
import { isLoopbackHost } from '../protocol/is-loopback-host.ts'
import type { Site } from '../site/site.ts'
import {
  probeAgedPages,
  type ProbedFile,
  type ProbedSite,
  probeFile,
  probeMissingAsset,
  probeReplicas,
  browserCodings,
  describeFailureAt,
  createSiteRequest,
  servesOtherBuild,
} from './probe-site.ts'
import { type CheckReport, sortFindings } from './finding.ts'
import { planRequests, type RequestPlan } from './plan-requests.ts'
import { type Proxy, detectProxies } from './detect-proxies.ts'
import { createSiteClient, type SiteAccess } from './site-client.ts'
import { describeObservations, type SiteObservation } from './describe-observations.ts'
import type { SiteFindingCode } from './finding-messages.ts'
import {
  CheckStopped,
  stopIfIntercepted,
  stopAtTimeLimit,
  stopAsUnreachable,
  stopOnServerError,
} from './check-stopped.ts'

export interface CheckSiteOptions extends Omit<SiteAccess, 'origin' | 'signal'> {
  readonly all: boolean
  /**
   * Milliseconds for the whole check.
   * @default a minute, and a second for each planned request and for each 100 kB
   */
  readonly timeLimit?: number
  readonly onPlan: (plan: RequestPlan) => void
  /** Called after each request with the number of requests so far. */
  readonly onProgress: (requests: number) => void
}

/**
 * Compares a running site with a build, in six steps:
 *
 * 1. Plan the files and the number of requests (`plan-requests.ts`).
 * 2. Request one page. If the site needs a login or blocks the request, the check stops (`check-stopped.ts`).
 * 3. Offer HTTP/2.
 * 4. Request each file: without a coding, in each coding, like a browser, and with its validator. If the site marks the
 *    file as a dictionary, offer it as one (`check-file-answers.ts`).
 * 5. Request a script that no build has, and two files several times on separate connections. If files differ, request
 *    the build id.
 * 6. If there is a cache, request pages again after a wait.
 */
export async function checkSite(address: URL, site: Site, options: CheckSiteOptions): Promise<CheckReport> {
  const target = address.href
  // 1. The plan.
  const plan = planRequests(site, options)
  const wanted = options.timeLimit ?? Math.round(60_000 + plan.requests * 1000 + plan.bytes / 100)
  const timeLimit = Math.min(wanted, maximumTimeout)
  const signal = AbortSignal.timeout(timeLimit)
  const stop = new AbortController()
  signal.addEventListener('abort', () => stop.abort(), { once: true })
  const client = createSiteClient({ ...options, origin: address, signal: stop.signal })
  const seen = new Set<Proxy>()
  let requests = 0
  const ask: ProbedSite['ask'] = async (question) => {
    const answer = await client.ask(question).catch((error: unknown) => {
      if (signal.aborted) stopAtTimeLimit(address, { timeLimit, asked: requests, planned: plan.requests })
      throw error
    })
    requests += 1
    options.onProgress(requests)
    for (const proxy of detectProxies(answer.fields)) seen.add(proxy)
    if (question.isMissing !== true) stopIfIntercepted(answer, new URL(question.path, address))
    return answer
  }
  try {
    const [first] = plan.targets
    if (first === undefined)
      throw new OperatorError(
        'SD_OPTION_INVALID',
        `${site.directory}: the manifest lists no files. Name the folder of the deployed build with --build.`,
      )
    options.onPlan(plan)
    // 2. One page.
    const mount = mountPath(address, site)
    const firstUrl = new URL(mount + first.name, address)
    const answer = await ask(createSiteRequest(first, mount, browserCodings)).catch((error: unknown) =>
      error instanceof CheckStopped ? Promise.reject(error) : stopAsUnreachable(firstUrl, error),
    )
    stopOnServerError(firstUrl, answer)
    const observations: SiteObservation[] = []
    // 3. HTTP/2.
    const protocol = await client
      .negotiatedProtocol()
      .catch((error: unknown) => stopAsUnreachable(firstUrl, error))
    if (protocol !== undefined && protocol !== 'h2') observations.push({ code: 'http1', path: mount })
    if (protocol === undefined && !isLocal(address)) observations.push({ code: 'plain-http', path: mount })
    // 4. Each file.
    const policyByEnvironment = site.fieldRules.flatMap((rule) =>
      rule.on === 'documents' ? rule.byEnvironment : [],
    )
    const asked = { ask, mount, policyByEnvironment }
    const files: ProbedFile[] = []
    await forEachConcurrently(plan.targets.entries(), options.concurrency, async ([index, each]) => {
      files[index] = await probeFile(each, asked).catch((error: unknown) => {
        // Stop the other requests, which may take half a minute.
        stop.abort()
        throw error
      })
    })
    observations.push(...files.flatMap((file) => file.observations))
    // 5. A missing script, and replicas.
    observations.push(...(await probeMissingAsset(site, asked).catch(describeFailureAt(mount))))
    observations.push(...(await probeReplicas(plan.targets, asked).catch(describeFailureAt(mount))))
    // 6. Pages again.
    observations.push(...(await probeAgedPages(files, asked).catch(describeFailureAt(mount))))
    const isOther = observations.some(mayBeOfOtherBuild) && (await servesOtherBuild(site, asked))
    const isOtherPath = !isOther && mount !== site.base && files.every(isPageOrGone)
    const base = isOtherPath ? site.base : undefined
    const found = foldObservationsOfOtherBuild(observations, { files: files.length, mount, isOther, base })
    return {
      target,
      findings: sortFindings(describeObservations(found, [...seen])),
      right: describePassedChecks(found, plan, protocol),
    }
  } catch (error) {
    if (!(error instanceof CheckStopped)) throw error
    return { target, stopped: error.message, findings: [], right: [] }
  } finally {
    client.close()
  }
}

/** Returns the path of the URL if it has one, else the base of the build. */
function mountPath({ pathname }: URL, { base }: Site): string {
  return pathname === '/' ? base : pathname.replace(/\/?$/, '/')
}

function isOfOtherBuild({ code }: SiteObservation): boolean {
  return code === 'gone' || code === 'other-bytes'
}

/** Another build may also have other rules. */
function mayBeOfOtherBuild(observation: SiteObservation): boolean {
  return (
    isOfOtherBuild(observation) || ['field-lost', 'policy-lost', 'policy-mode'].includes(observation.code)
  )
}

/** A fallback page can answer for pages at any path. */
function isPageOrGone({ target, observations }: ProbedFile): boolean {
  return target.resource.isPage || observations.some(({ code }) => code === 'gone')
}

/** Reports another build or path as one finding if the site says so, or if most files are missing or differ. */
function foldObservationsOfOtherBuild(
  observations: readonly SiteObservation[],
  {
    files,
    mount,
    isOther,
    base,
  }: {
    readonly files: number
    readonly mount: string
    readonly isOther: boolean
    /** The base of the build if the mount path is probably wrong. */
    readonly base: string | undefined
  },
): SiteObservation[] {
  const others = observations.filter(isOfOtherBuild)
  if (!isOther && (others.length < 3 || others.length * 2 <= files)) return [...observations]
  const differing = `${groupDigits(others.length)} of ${pluralize(files, 'file')} differ or are missing`
  const detail = others.length === 0 ? 'the build id is another one' : differing
  return [
    base === undefined
      ? { code: 'other-build', path: mount, detail }
      : { code: 'other-path', path: mount, detail: `the base of the build is ${base}, and ${detail}` },
    ...observations.filter((each) => !mayBeOfOtherBuild(each)),
  ]
}

/** The checked aspects of each file and the findings that concern them. */
const aspects: readonly (readonly [string, readonly SiteFindingCode[]])[] = [
  ['codings', ['stripped', 'recompressed', 'unasked-coding', 'broken-coding']],
  ['ETag', ['no-etag', 'shared-etag', 'etag-changes']],
  ['304', ['no-etag', 'no-304']],
  ['Vary', ['no-vary', 'no-dictionary-vary', 'unasked-delta']],
  ['Cache-Control', ['hashed-not-kept', 'page-kept', 'file-kept', 'page-aged']],
]

function describePassedChecks(
  observations: readonly SiteObservation[],
  { targets }: RequestPlan,
  protocol: string | undefined,
): string[] {
  const has = (...codes: readonly SiteFindingCode[]): boolean =>
    observations.some(({ code }) => codes.includes(code))
  const isStrange = has(
    'failed',
    'gone',
    'other-bytes',
    'other-build',
    'other-path',
    'broken-coding',
    'not-decoded',
  )
  return [
    ...(isStrange ? [] : [`bytes of ${pluralize(targets.length, 'file')}`]),
    // For files with other bytes, nothing else was checked.
    ...aspects.flatMap(([aspect, codes]) =>
      has('failed', 'other-build', 'other-path', ...codes) ? [] : aspect,
    ),
    ...(has('missing-as-page', 'missing-kept') ? [] : ['404 for a missing script']),
    ...(protocol === 'h2' ? ['HTTP/2'] : []),
  ]
}

/** Browsers treat these hosts as secure (Secure Contexts §3.1). */
function isLocal({ hostname }: URL): boolean {
  return isLoopbackHost(hostname) || hostname.endsWith('.localhost')
}
