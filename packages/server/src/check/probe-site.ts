import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import { buildIdPath, type ContentCoding } from '@serve-dist/manifest'
import type { Site } from '../site/site.ts'
import { freshnessLifetimeSeconds, checkPageAge, checkFileAnswers } from './check-file-answers.ts'
import { isHashed, maximumAgedPages, type Target, replicaAttempts } from './plan-requests.ts'
import type { SiteRequest, SiteResponse } from './site-client.ts'
import type { SiteObservation } from './describe-observations.ts'
import { CheckStopped } from './check-stopped.ts'

// The requests of a check.

/** A site and the path of the build on it. */
export interface ProbedSite {
  /** Stops the check if a proxy answers instead of the site. */
  readonly ask: (question: SiteRequest & { readonly isMissing?: boolean }) => Promise<SiteResponse>
  /** The path of the build: percent-encoded, with `/` at both ends. */
  readonly mount: string
  /** Directives of the policy that depend on the environment of the server. */
  readonly policyByEnvironment?: readonly string[]
}

/** The observations for one file. */
export interface ProbedFile {
  readonly target: Target
  readonly observations: readonly SiteObservation[]
  /** Whether a response has `Age`. */
  readonly isAged: boolean
}

/** The `Accept-Encoding` of browsers. */
export const browserCodings = 'gzip, deflate, br, zstd'

/** @param codings - absent for simple clients, such as curl and crawlers. */
export function createSiteRequest({ resource, name }: Target, mount: string, codings?: string): SiteRequest {
  const accept = resource.isPage ? 'text/html,application/xhtml+xml,*/*;q=0.8' : '*/*'
  const fields = { accept, ...(codings !== undefined && { 'accept-encoding': codings }) }
  return { path: mount + name, fields, size: resource.identity.bytes.size }
}

/** Requests a file like clients of each kind. */
export async function probeFile(
  target: Target,
  { ask, mount, policyByEnvironment = [] }: ProbedSite,
): Promise<ProbedFile> {
  const { resource, isRuntime } = target
  const path = mount + target.name
  try {
    const question = createSiteRequest(target, mount, browserCodings)
    // Browsers first: a cache that ignores Vary then stores a compressed response, and the other requests reveal it.
    const browser = await ask(question)
    const coded = new Map<ContentCoding, SiteResponse>()
    for (const { coding } of resource.representations) {
      if (coding !== 'identity') coded.set(coding, await ask(createSiteRequest(target, mount, coding)))
    }
    const plain = await ask(createSiteRequest(target, mount))
    const validator = validatorOf(browser.fields)
    const again =
      validator === undefined
        ? undefined
        : await ask({ ...question, fields: { ...question.fields, ...validator } })
    const marked = browser.fields['use-as-dictionary'] !== undefined && plain.coding === 'identity'
    const offering = marked ? await ask(withOwnDictionary(question, plain)) : undefined
    const isAged = [plain, browser].some(({ fields }) => fields.age !== undefined)
    const answers = { resource, isRuntime, path, plain, coded, browser, again, offering, policyByEnvironment }
    const observations = checkFileAnswers(answers)
    return { target, observations, isAged }
  } catch (error) {
    return { target, observations: describeFailureAt(path)(error), isAged: false }
  }
}

/** Offers the file itself as the dictionary. No server has a delta for it, and a cache must not answer with another one. */
function withOwnDictionary(question: SiteRequest, { sha256 }: SiteResponse): SiteRequest {
  const offer = {
    'accept-encoding': `${browserCodings}, dcb, dcz`,
    'available-dictionary': `:${Buffer.from(sha256, 'hex').toString('base64')}:`,
  }
  return { ...question, fields: { ...question.fields, ...offer } }
}

/** Returns a function that makes an observation of an error. It rethrows `CheckStopped`. */
export function describeFailureAt(path: string): (error: unknown) => SiteObservation[] {
  return (error) => {
    if (error instanceof CheckStopped) throw error
    return [{ code: 'failed', path, detail: error instanceof Error ? error.message : String(error) }]
  }
}

function validatorOf({
  etag,
  'last-modified': date,
}: IncomingHttpHeaders): Record<string, string> | undefined {
  if (etag !== undefined) return { 'if-none-match': etag }
  return date === undefined ? undefined : { 'if-modified-since': date }
}

/** Returns whether the site has the resource of a build id (`site/build-id-resource.ts`), and it is another id. */
export async function servesOtherBuild({ buildId }: Site, { ask, mount }: ProbedSite): Promise<boolean> {
  const answer = await ask({ path: mount + buildIdPath, isMissing: true }).catch((error: unknown) => {
    if (error instanceof CheckStopped) throw error
    // The report already has the differences.
    return undefined
  })
  const isResource = answer?.status === 200 && answer.fields['content-type'] === 'application/json'
  return isResource && answer.sha256 !== sha256Of(JSON.stringify({ buildId }))
}

/** Requests a script that no build has. */
export async function probeMissingAsset(
  { assetsPath, base }: Site,
  { ask, mount }: ProbedSite,
): Promise<SiteObservation[]> {
  const folder = mount + (assetsPath ?? base).slice(base.length)
  const path = `${folder}serve-dist-check-${randomBytes(4).toString('hex')}.js`
  const asScript = { accept: '*/*', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'script' }
  const { status, fields } = await ask({ path, fields: asScript, isMissing: true })
  const cacheControl = fields['cache-control']
  if (status < 400)
    return [{ code: 'missing-as-page', path, detail: `${status} (${fields['content-type'] ?? 'no type'})` }]
  return cacheControl !== undefined && freshnessLifetimeSeconds(cacheControl) > 0
    ? [{ code: 'missing-kept', path, detail: cacheControl }]
    : []
}

/** Requests a page and a hashed file several times, to compare the entity tags of replicas. */
export async function probeReplicas(
  targets: readonly Target[],
  { ask, mount }: ProbedSite,
): Promise<SiteObservation[]> {
  const page = targets.find(({ resource }) => resource.isPage)
  const file = targets.find(({ resource }) => isHashed(resource))
  const found: SiteObservation[] = []
  for (const target of [page, file]) {
    if (target === undefined) continue
    const tags = new Set<string>()
    for (let attempt = 0; attempt < replicaAttempts; attempt += 1) {
      const question = {
        ...createSiteRequest(target, mount, browserCodings),
        method: 'HEAD',
        isApart: true,
      } as const
      const { fields, status } = await ask(question)
      if (status === 200 && fields.etag !== undefined) tags.add(fields.etag.replace(/^W\//, ''))
    }
    const detail = `${tags.size} different ETags in ${replicaAttempts} tries`
    if (tags.size > 1) found.push({ code: 'etag-changes', path: mount + target.name, detail })
  }
  return found
}

/** `Age` counts whole seconds and is 0 for a response that a cache has just fetched. */
const agingMilliseconds = 1500

/** Requests pages again after a wait, to see whether a cache stores them. */
export async function probeAgedPages(
  files: readonly ProbedFile[],
  { ask, mount }: ProbedSite,
): Promise<SiteObservation[]> {
  const pages = files.filter(({ target, isAged }) => isAged && target.resource.isPage)
  if (pages.length === 0) return []
  await setTimeout(agingMilliseconds)
  const found: SiteObservation[] = []
  for (const { target } of pages.slice(0, maximumAgedPages)) {
    const answer = await ask(createSiteRequest(target, mount, browserCodings))
    found.push(...checkPageAge(target.resource, mount + target.name, [answer]))
  }
  return found
}
