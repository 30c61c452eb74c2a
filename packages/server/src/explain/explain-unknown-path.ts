import { contentCodings, type Fallback, isSourceMap } from '@serve-dist/manifest'
import { isNavigation } from '../protocol/is-navigation.ts'
import type { RequestFields } from '../protocol/request-fields.ts'
import { chooseStandIn, decide, matchRule } from '../site/decide.ts'
import { forcedRedirects, matchRedirect, type RedirectMatch } from '../site/redirects.ts'
import { isSkewMiss } from '../site/missing-asset.ts'
import type { Site } from '../site/site.ts'
import { explainNotFoundPage, explainResource } from './explain-resource.ts'
import { type Explained, type ExplainedStep, say } from './explanation.ts'

/** A path that the table does not have. */
interface UnknownPath {
  readonly path: string
  readonly fallback: Fallback | undefined
}

/** 3. The rules, then the fallback page: what stands in for the path, or why nothing does. */
export function explainUnknownPath(site: Site, request: RequestFields, unknown: UnknownPath): Explained {
  const { path, fallback } = unknown
  const absence = explainAbsence(site, path)
  const rule = describeRedirect(site, path)
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const status = decide(site, request, fallback)?.status
    const step =
      status === undefined
        ? say(4, `${request.method} of an unknown path`, 'Methods: OPTIONS of an unknown path')
        : say(4, `${rule} makes the path known`, 'Methods: … of a path that redirects')
    return { steps: [absence, step], outcome: { status } }
  }
  const match = matchRule(site, path, fallback)
  const choice = chooseStandIn(site, unknown)
  const standIn = choice?.isForNavigations === true && !isNavigation(request) ? undefined : choice
  const isByRule = match !== undefined && standIn?.location === match.location
  const steps = [
    absence,
    ...(match === undefined ? [] : [explainRule(site, request, { rule, match, counts: isByRule })]),
    ...(isByRule ? [] : [explainFallback(site, request, { ...unknown, standIn })]),
  ]
  if (standIn?.target === undefined) return { steps, outcome: { status: standIn?.status } }
  const next =
    standIn.status === 404
      ? explainNotFoundPage(standIn.target, request)
      : explainResource(standIn.target, request)
  return { steps: [...steps, ...next.steps], outcome: next.outcome }
}

function explainRule(
  site: Site,
  request: RequestFields,
  { rule, match, counts }: { readonly rule: string; readonly match: RedirectMatch; readonly counts: boolean },
): ExplainedStep {
  const { status, location, target } = match
  if (target === undefined)
    return say(3, `${rule}: ${status} to ${location}`, 'Freshness: Redirects of yours')
  const row = 'Freshness: … to a page with status 200'
  if (counts) return say(3, `${rule}: ${target.path}`, row)
  return isNavigation(request)
    ? say(
        3,
        `${rule} puts no page under ${site.assetsPath}: it is not about these paths alone`,
        noPageForAsset,
      )
    : say(3, `${rule} has a page, and the request does not navigate`, row)
}

function explainFallback(
  site: Site,
  request: RequestFields,
  { path, fallback, standIn }: UnknownPath & { readonly standIn: RedirectMatch | undefined },
): ExplainedStep {
  if (standIn !== undefined) {
    const text = `fallback ${fallback}: a navigation gets ${standIn.location}`
    if (standIn.status === 404) {
      return say(
        3,
        text,
        'Fallbacks: A build with `404.html`, a navigation to an unknown path under its base',
      )
    }
    return standIn.target === site.singlePage
      ? say(3, text, 'Fallbacks: A build with `200.html`, of any type')
      : say(3, text, 'Fallbacks: `spa`, a navigation to an unknown path, dots or not')
  }
  const noPage = 'Fallbacks: `custom` or `mpa` with neither `404.html` nor `200.html`'
  if (fallback === undefined || fallback === 'none') {
    return say(3, 'there is no fallback for unknown paths (appType, --fallback, --ssr)', noPage)
  }
  if (!path.startsWith(site.base)) {
    return say(3, 'there is no fallback outside of the base', "Which resource: A build with `base: '/app/'`")
  }
  if (!isNavigation(request)) {
    const text = "a fallback is for navigations (-H 'Sec-Fetch-Mode: navigate' asks as one)"
    return say(3, text, 'Fallbacks: … any other request (`Accept: */*`, `fetch()`, a script)')
  }
  return site.assetsPath !== undefined && path.startsWith(site.assetsPath)
    ? say(3, `no page stands in for a file under ${site.assetsPath}`, noPageForAsset)
    : say(3, `fallback ${fallback}: the build has no page for it`, noPage)
}

const noPageForAsset = 'Fallbacks: … in the directory of hashed assets'

/** The rule that matches a path, as somebody wrote it. */
export function describeRedirect(site: Site, path: string, byForce = false): string {
  const rules = byForce ? forcedRedirects(site.redirects) : site.redirects
  const rule = matchRedirect(rules, path)?.rule
  if (rule === undefined) return 'no rule'
  return `the rule ${rule.from} ${rule.to} ${rule.status}${rule.force ? '!' : ''}`
}

/** Why a path is not in the table, with what it may have been meant for. */
function explainAbsence(site: Site, path: string): ExplainedStep {
  if (!path.startsWith(site.base)) {
    return say(
      2,
      `${path} is outside of the base ${site.base}`,
      "Which resource: A build with `base: '/app/'`",
    )
  }
  const coding = contentCodings.find(({ extension }) => path.endsWith(extension))
  const original = coding === undefined ? undefined : site.table.get(path.slice(0, -coding.extension.length))
  if (original?.kind === 'resource') {
    const text = `${path} is a variant of ${original.path}: ask for that with Accept-Encoding: ${coding?.name}`
    return say(2, text, 'Which resource: A variant under its own suffix (`app.js.br`)')
  }
  if (site.sourceMaps === 'deny' && isSourceMap(path)) {
    const text = `${path} is a source map, and these are denied`
    return say(2, text, 'Which resource: Source maps where they are denied')
  }
  if (/\/\.(?!well-known(?:\/|$))/.test(path)) {
    const row = "Which resource: The manifest's folder, `.vite/`, dotfiles other than `.well-known/`"
    return say(2, `${path} has a hidden name, which is never served`, row)
  }
  if (isSkewMiss(site, { method: 'GET', target: path })) {
    const text = `${path} is a hashed file that neither this build nor a kept one has: a tab of another build may ask for it`
    const row =
      'Another build: A hashed file that neither the build nor a kept one has (GET, HEAD; source maps aside)'
    return say(2, text, row)
  }
  const alike = [...site.table.keys()].find((key) => plain(key) === plain(path))
  if (alike === undefined) {
    const text = `${path} is none of the ${site.table.size} paths of the build`
    return say(2, text, 'Which resource: An unknown path')
  }
  const row = 'Which resource: Letters in another case, or composed (NFC) where the name is decomposed (NFD)'
  return say(2, `${path} is not ${alike}: names are exact`, row)
}

/** Without the differences that people overlook: letters' case, and how a letter is composed. */
function plain(path: string): string {
  try {
    return decodeURIComponent(path).normalize('NFC').toLowerCase()
  } catch {
    return path.toLowerCase()
  }
}
