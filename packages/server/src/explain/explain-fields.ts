import { buildIdPath } from '@serve-dist/manifest'
import { firstNames } from '@serve-dist/foundation/text/first-names'
import { overridesFor } from '../site/field-rules.ts'
import { namesOf } from '../site/names-of.ts'
import type { Answer, FieldRule, Representation, Resource, Site } from '../site/site.ts'
import type { HttpRow, Outcome } from './explanation.ts'

/** A field of an answer, and what set it. */
export interface ExplainedField {
  readonly name: string
  readonly value: string
  readonly why: string
  readonly row: HttpRow
}

/** Names what set each field of an answer: a rule, where one matches the file and names the field, else the default. */
export function explainFields(site: Site, answer: Answer, outcome: Outcome): ExplainedField[] {
  const explained: ExplainedField[] = []
  for (let index = 0; index + 1 < answer.fields.length; index += 2) {
    const name = answer.fields[index] ?? ''
    const value = answer.fields[index + 1] ?? ''
    explained.push({ name, value, ...explainField(site, { name, value }, outcome) })
  }
  return explained
}

/** The fields that a rule takes away from a file's answers, by its value `null`. */
export function removedFields(site: Site, { resource }: Outcome): string[] {
  if (resource === undefined) return []
  return [...resource.overrides.values()]
    .filter(({ value }) => value === null)
    .map(({ name }) => `${name}: ${describeRule(site, resource, name)}`)
}

const buildIdRow = 'Which resource: `<base>__serve-dist/build.json`'

type Why = Pick<ExplainedField, 'why' | 'row'>

function explainField(
  site: Site,
  { name, value }: { readonly name: string; readonly value: string },
  { status, resource, representation }: Outcome,
): Why {
  const override = resource?.overrides.get(name.toLowerCase())
  const isExtended = name === 'Vary' && override !== undefined && override.value !== null
  if (resource !== undefined && (override?.value === value || isExtended)) {
    return { why: describeRule(site, resource, name), row: rowOf(ruleFor(site, resource, name)) }
  }
  if (name === 'Vary' && value.includes('Sec-Fetch-Mode')) {
    return {
      why: 'under this path navigations get a page, other requests do not',
      row: 'Fallbacks: Any GET or HEAD of a path that answers navigations otherwise',
    }
  }
  if (name === 'Vary' && value.includes('Available-Dictionary')) {
    return {
      why: 'who has a file of an earlier build may get a delta, and others the variants',
      row: 'Deltas: A file that is marked, or has deltas',
    }
  }
  if (name === 'Cache-Control' && value.startsWith('private') && isDelta(representation)) {
    return {
      why: 'a shared cache that ignores Vary would send the delta to everybody',
      row: 'Deltas: The freshness of a delta',
    }
  }
  if (name === 'Cache-Control' && resource !== undefined && resource.path === site.environment?.path) {
    return {
      why: 'the values of the environment may be others at the next start, whatever rules say',
      row: 'Freshness: The module of the environment',
    }
  }
  if (name === 'Cache-Control' && resource?.path === buildIdPath && !site.files.has(buildIdPath)) {
    return { why: 'it names another build after each deploy, whatever rules say', row: buildIdRow }
  }
  if (
    name === 'Cache-Control' &&
    value === 'no-cache' &&
    resource !== undefined &&
    isGuardedScript(resource)
  ) {
    return {
      why: 'the script of a worker has a policy, which may be another one at the next start',
      row: 'Freshness: The script of a worker with a policy',
    }
  }
  if (name === 'Cache-Control') return explainFreshness(status, value)
  if (name === 'Content-Type' && resource === undefined) {
    return { why: 'the body is one line that names the status', row: 'Freshness: Any error' }
  }
  return defaults.get(name) ?? { why: `belongs to status ${status}`, row: 'Freshness: Any error' }
}

function isDelta(representation: Representation | undefined): boolean {
  return representation?.coding === 'dcz' || representation?.coding === 'dcb'
}

function isGuardedScript({ mediaType, overrides }: Resource): boolean {
  const names = ['content-security-policy', 'content-security-policy-report-only']
  return mediaType.startsWith('text/javascript') && names.some((name) => overrides.has(name))
}

function explainFreshness(status: number | undefined, value: string): Why {
  if (value === 'no-store') return { why: `status ${status} is never kept`, row: 'Freshness: Any error' }
  return value === 'no-cache'
    ? {
        why: 'neither the build nor a rule says that the name has a content hash',
        row: 'Freshness: Any other file, the fallback page, a redirect',
      }
    : {
        why: 'the build, or a rule, says that the name has a content hash',
        row: 'Freshness: A name that the bundler hashed (200, 206, 304)',
      }
}

const defaults: ReadonlyMap<string, Why> = new Map(
  Object.entries({
    'Content-Type': { why: "by the name's extension", row: 'Which representation: A text type' },
    'Content-Length': { why: 'the bytes of this body', row: 'Which representation: Every body' },
    'Content-Encoding': { why: 'the coding of step 5', row: 'Which representation: `Accept-Encoding`' },
    'Content-Range': { why: 'the range of step 7', row: 'Ranges: GET, one `bytes` range that is there' },
    'Accept-Ranges': {
      why: 'identity is sent, of which there are ranges',
      row: 'Ranges: `Accept-Ranges: bytes`',
    },
    Vary: {
      why: 'the file has variants, so Accept-Encoding changes the answer',
      row: 'Which representation: A resource with variants',
    },
    ETag: { why: 'from the SHA-256 of these very bytes', row: 'Which representation: Every representation' },
    'Last-Modified': { why: 'when these bytes were first built', row: 'Freshness: Validators' },
    Link: { why: 'what the page needs, from the graph of the bundler', row: 'Freshness: Links of a page' },
    'Use-As-Dictionary': {
      why: 'a browser may keep the file to decode the next build against',
      row: 'Deltas: A hashed file that may be a dictionary',
    },
    Location: { why: 'the place of step 2 or 3, with the query', row: 'Freshness: Redirects of yours' },
    Allow: { why: 'the methods of every file', row: 'Methods: Any other method, known path' },
    'X-Content-Type-Options': {
      why: 'every body has its right type',
      row: 'Which representation: A text type',
    },
  } satisfies Record<string, Why>),
)

/** The last rule that matches a file and names a field: the same function chose it when the site was built. */
function ruleFor(site: Site, resource: Resource, name: string): FieldRule | undefined {
  const base = decodeURIComponent(site.base)
  const paths = namesOf(resource.path).map((each) => base + each)
  const found = site.fieldRules.findLast((rule) =>
    overridesFor([rule], resource, paths).has(name.toLowerCase()),
  )
  // The script of a worker is no document, and has the field of one.
  return found ?? site.fieldRules.find(({ on, fields }) => on === 'documents' && Object.hasOwn(fields, name))
}

/** Which parts of a policy are of the page, and who wanted one. */
function describePolicy(
  { fields, from }: Extract<FieldRule, { readonly on: 'documents' }>,
  { overrides, isPage }: Resource,
  name: string,
): string {
  const all = hashesIn(overrides.get(name.toLowerCase())?.value)
  const given = hashesIn(fields[name])
  const own = all.filter((hash) => !given.includes(hash))
  const hashes = isPage
    ? own.length === 0
      ? 'no hashes, for nothing inline in this page needs one'
      : `of what stands inline in this page: ${firstNames(own)}`
    : 'no hashes, for it is no page'
  return `csp of ${from.join(' and ')}; ${hashes}`
}

function hashesIn(policy: string | null | undefined): readonly string[] {
  return policy?.match(/'sha256-[^']+'/g) ?? []
}

function rowOf(rule: FieldRule | undefined): HttpRow {
  if (rule?.on === 'documents') return 'Freshness: `csp`'
  if (rule?.on === 'files' || rule?.on === 'pages') return 'Freshness: `securityHeaders`'
  return rule?.on === 'path'
    ? 'Freshness: `_headers` and `_redirects` of the build'
    : 'Freshness: Rules of yours'
}

function describeRule(site: Site, resource: Resource, name: string): string {
  const rule = ruleFor(site, resource, name)
  switch (rule?.on) {
    case 'files':
    case 'pages':
      return `securityHeaders, for all ${rule.on}`
    case 'documents':
      return describePolicy(rule, resource, name)
    case 'path':
      return `_headers, ${rule.pattern.map((piece, index) => (index % 2 === 0 ? piece : placeholder(piece))).join('')}`
    case 'glob':
      return `the rule for ${rule.glob}, of serve-dist.config, a flag or the plugin`
    default:
      return 'the build'
  }
}

function placeholder(name: string): string {
  return name === '*' ? name : `:${name}`
}
