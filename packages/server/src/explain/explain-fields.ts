import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import { buildIdPath, keptListPath } from '@serve-dist/manifest'
import { fieldPairs } from '../protocol/field-pairs.ts'
import { overridesFor } from '../site/field-rules.ts'
import { pageUrls } from '../site/page-urls.ts'
import type { FieldRule, Resource, Site } from '../site/site.ts'
import type { Explanation } from './explain.ts'

/** A header of an answer and its origin. */
export interface ExplainedField {
  readonly name: string
  readonly value: string
  readonly why: string
}

/** Explains each header of an answer: by the rule that sets it for this file, or by the default. */
export function explainFields(site: Site, explanation: Explanation): ExplainedField[] {
  const { answer, resource } = explanation
  return Array.from(answer === undefined ? [] : fieldPairs(answer), ([name, value]) => {
    const override = resource?.overrides.get(name.toLowerCase())
    const isExtended = name === 'Vary' && override !== undefined && override.value !== null
    const why =
      resource !== undefined && (override?.value === value || isExtended)
        ? describeRule(site, resource, name)
        : describeDefault(site, { name, value }, explanation)
    return { name, value, why }
  })
}

/** Returns the headers that a rule with the value `null` removes from the answers of a file. */
export function removedFields(site: Site, { answer, resource }: Explanation): string[] {
  if (answer === undefined || resource === undefined) return []
  return [...resource.overrides.values()]
    .filter(({ value }) => value === null)
    .map(({ name }) => `${name}: ${describeRule(site, resource, name)}`)
}

function describeDefault(
  site: Site,
  { name, value }: Pick<ExplainedField, 'name' | 'value'>,
  explanation: Explanation,
): string {
  const { answer, representation } = explanation
  const status = `belongs to status ${answer?.status}`
  switch (name) {
    case 'Accept-Ranges':
      return 'the server sends identity, and accepts ranges of it'
    case 'Allow':
      return 'the methods of every file'
    case 'Cache-Control':
      return describeFreshness(site, value, explanation)
    case 'Content-Encoding':
      return 'the coding of step 5'
    case 'Content-Length':
      return 'the bytes of this body'
    case 'Content-Type':
      return representation === undefined
        ? 'the body is one line that names the status'
        : "by the name's extension"
    case 'ETag':
      return 'from the SHA-256 of these bytes'
    case 'Last-Modified':
      return 'when a build wrote these bytes'
    case 'Link':
      return "what the page loads, from the bundler's graph"
    case 'Location':
      return 'the target of step 2 or 3, with the query'
    case 'Use-As-Dictionary':
      return 'a browser may keep the file to decode the next build with it'
    case 'Vary':
      if (value.includes('Sec-Fetch-Mode')) return 'under this path only navigations get a page'
      return value.includes('Available-Dictionary')
        ? 'clients with a file of an earlier build may get a delta'
        : 'the file has variants, so Accept-Encoding changes the answer'
    case 'X-Content-Type-Options':
      return 'every body has its right type'
    default:
      return status
  }
}

function describeFreshness(site: Site, value: string, { answer, resource }: Explanation): string {
  if (value === 'no-store') {
    return answer?.status === 200
      ? 'each check needs a new answer'
      : `status ${answer?.status} is never stored`
  }
  if (value.startsWith('private') && site.basicAuth !== undefined)
    return 'only visitors with credentials may read the file'
  if (value.startsWith('private'))
    return 'a shared cache that ignores Vary would send the delta to all clients'
  if (resource !== undefined && resource.path === site.environment?.path) {
    return 'the next start may have other values in its environment, regardless of rules'
  }
  if (
    resource !== undefined &&
    [buildIdPath, keptListPath].includes(resource.path) &&
    !site.files.has(resource.path)
  ) {
    return 'it has another content after each deploy, regardless of rules'
  }
  if (value !== 'no-cache') return 'the build or a rule says that the name has a content hash'
  return resource !== undefined && isScriptWithPolicy(resource)
    ? 'the script of a worker has a policy, which may be another one at the next start'
    : 'neither the build nor a rule says that the name has a content hash'
}

function isScriptWithPolicy({ mediaType, overrides }: Resource): boolean {
  const names = ['content-security-policy', 'content-security-policy-report-only']
  return mediaType.startsWith('text/javascript') && names.some((name) => overrides.has(name))
}

/** Describes the last rule that sets a header for a file. It uses the same function as the table of the site. */
function describeRule(site: Site, resource: Resource, name: string): string {
  const base = decodeURIComponent(site.base)
  const urls = pageUrls(resource.path).map((url) => base + url)
  const rule =
    site.fieldRules.findLast((each) => overridesFor([each], resource, urls).has(name.toLowerCase())) ??
    // The script of a worker is not a document, but has the header of documents.
    site.fieldRules.find(({ on, fields }) => on === 'documents' && Object.hasOwn(fields, name))
  switch (rule?.on) {
    case 'files':
    case 'pages':
      return `securityHeaders, for all ${rule.on}`
    case 'documents':
      return describePolicy(rule, resource, name)
    case 'path': {
      const pattern = rule.pattern.map((part, index) => (index % 2 === 0 || part === '*' ? part : `:${part}`))
      return `_headers, ${pattern.join('')}`
    }
    case 'glob':
      return `the rule for ${rule.glob}, of serve-dist.config, a flag or the plugin`
    default:
      return 'the build'
  }
}

/** Returns the sources of a policy and the hashes that belong to the page. */
function describePolicy(
  { fields, from }: Extract<FieldRule, { readonly on: 'documents' }>,
  { overrides, isPage }: Resource,
  name: string,
): string {
  const given = hashesIn(fields[name])
  const own = hashesIn(overrides.get(name.toLowerCase())?.value).filter((hash) => !given.includes(hash))
  const hashes =
    own.length > 0
      ? `hashes of the inline code of this page: ${joinFirstNames(own)}`
      : `no hashes, because ${isPage ? 'nothing inline in this page needs one' : 'the file is not a page'}`
  return `csp of ${from.join(' and ')}; ${hashes}`
}

function hashesIn(policy: string | null | undefined): readonly string[] {
  return policy?.match(/'sha256-[^']+'/g) ?? []
}
