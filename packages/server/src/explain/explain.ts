import { buildIdPath, type Fallback } from '@serve-dist/manifest'
import type { RequestFields } from '../protocol/request-fields.ts'
import { encodePath, parseRequestPath } from '../protocol/request-path.ts'
import { decide, matchRule } from '../site/decide.ts'
import type { Answer, Entry, Site } from '../site/site.ts'
import { explainNotFoundPage, explainOtherMethod, explainResource } from './explain-resource.ts'
import { describeRedirect, explainUnknownPath } from './explain-unknown-path.ts'
import { type Explained, type ExplainedStep, say } from './explanation.ts'

/** An answer with the steps that led to it. */
export interface Explanation extends Explained {
  /** That of `decide`. */
  readonly answer: Answer | undefined
}

/**
 * Explains what `decide` answers: its steps again, one after the other, by the functions that it calls itself.
 *
 * @param fallback - as for `decide`.
 */
export function explain(site: Site, request: RequestFields, fallback: Fallback | undefined): Explanation {
  return { answer: decide(site, request, fallback), ...explainPath(site, request, fallback) }
}

/** 2. The path. */
function explainPath(site: Site, request: RequestFields, fallback: Fallback | undefined): Explained {
  const { method, target } = request
  const parsed = parseRequestPath(target)
  if (parsed === 'malformed') {
    const text = `${target} cannot be read: a broken escape, or a control character`
    const row =
      'Which resource: A malformed escape; an encoded NUL or other control character; octets that are no UTF-8'
    return { steps: [say(2, text, row)], outcome: { status: 400 } }
  }
  if (parsed === 'unclean') {
    if (method === 'OPTIONS' && target === '*') {
      const step = say(2, '* is the server as a whole', 'Methods: OPTIONS of a known path, or `*`')
      return { steps: [step], outcome: { status: 204 } }
    }
    const text = `${target} has a dot segment, an empty segment or a backslash: such a path is never repaired`
    const row = 'Which resource: Dot segments (encoded or not), empty segments, backslashes'
    return { steps: [say(2, text, row)], outcome: { status: undefined } }
  }
  const entry = site.table.get(parsed.path)
  if (entry === undefined) return explainUnknownPath(site, request, { path: parsed.path, fallback })
  const { steps, outcome } = explainEntry(entry, request)
  return { steps: [describeEntry(site, parsed.path, entry), ...steps], outcome }
}

/** Under which of its names a path is known, or which rule put something there by force. */
function describeEntry(site: Site, path: string, entry: Entry): ExplainedStep {
  const forced = matchRule(site, path, undefined)
  const rule = describeRedirect(site, path, true)
  if (entry.kind === 'missing') {
    return say(2, `${rule} hides ${path}`, 'Freshness: … with status 404 by force')
  }
  if (entry.kind === 'resource') {
    if (forced?.target === entry) {
      return say(2, `${rule} puts ${entry.path} there`, 'Freshness: … to a page with status 200')
    }
    if (entry.buildId !== undefined) {
      const kept = `${path} is the file ${entry.path} of the earlier build ${entry.buildId}: this one has nothing there`
      return say(2, kept, 'Which resource: A hashed file of an earlier build that is kept')
    }
    if (entry.path === buildIdPath && !site.files.has(buildIdPath)) {
      return say(
        2,
        `${path} names the build that is served`,
        'Which resource: `<base>__serve-dist/build.json`',
      )
    }
    const text = `${path} is the file ${entry.path} of the build`
    if (site.environment?.path === entry.path) {
      const made = `${text}, which this server makes when it loads the build, from: ${site.environment.names.join(', ')}`
      return say(2, made, 'Which resource: The module of the environment')
    }
    if (path === site.base + encodePath(entry.path)) {
      return say(2, text, 'Which resource: The decoded path is a file of the build')
    }
    return path.endsWith('/')
      ? say(2, text, 'Which resource: `/`, `/dir/`')
      : say(2, text, 'Which resource: `/about`, with `about.html`')
  }
  const to = `${entry.status} to ${entry.location}`
  if (forced !== undefined) return say(2, `${rule}: ${to}`, 'Freshness: Redirects of yours')
  if (`${path}/` === site.base) {
    return say(
      2,
      `the build has the base ${site.base}: ${to}`,
      "Which resource: A build with `base: '/app/'`",
    )
  }
  return path.endsWith('/')
    ? say(2, `the page has no slash: ${to}`, 'Which resource: `/about/`, with `about.html` alone')
    : say(2, `the page of a folder has a slash: ${to}`, 'Which resource: `/dir`, with `dir/index.html` alone')
}

function explainEntry(entry: Entry, request: RequestFields): Explained {
  if (entry.kind === 'resource') return explainResource(entry, request)
  const isGetOrHead = request.method === 'GET' || request.method === 'HEAD'
  if (entry.kind === 'missing') {
    if (!isGetOrHead) return { steps: [], outcome: { status: undefined } }
    const { steps, outcome } = explainNotFoundPage(entry.page, request)
    // Without an acceptable coding, the plain 404.
    return { steps, outcome: { ...outcome, status: 404 } }
  }
  return isGetOrHead ? { steps: [], outcome: { status: entry.status } } : explainOtherMethod(request.method)
}
