import { isFreshness } from '../site/representation-answers.ts'
import type { StandIn } from '../site/decide.ts'
import type { RedirectPattern } from '../site/site.ts'
import type { HostConfiguration } from './host-configuration.ts'
import {
  type AssetClass,
  type ExportedFile,
  type ExportPlan,
  type Field,
  type PlannedPath,
  placeOf,
} from './plan-export.ts'
import { escapePattern, rawTargetPattern, writeLocation } from './raw-target-pattern.ts'
import { namesHtmlInRe2, unclean } from './request-patterns.ts'

/**
 * What goes into a site block of Caddy. Where the folder lies says the environment variable `SITE`.
 *
 * @param folder - of the build, below the one that `SITE` names.
 */
export function caddyConfiguration(plan: ExportPlan, folder: string): HostConfiguration {
  const context: Context = { plan, left: unwritable(plan), matchers: 0 }
  const lines = [
    `root * "{$SITE:.}/${folder}"`,
    '@sd_whole not header Range *',
    ...block('@sd_navigation {', [
      ...block('not {', ['header Sec-Fetch-Mode *', 'not header_regexp Sec-Fetch-Mode (?i)^navigate$']),
      ...block('not {', [
        'not header_regexp Sec-Fetch-Mode (?i)^navigate$',
        `not header_regexp Accept ${quote(`(?i)${namesHtmlInRe2}`)}`,
      ]),
    ]),
    ...block('route {', [
      ...refusals(),
      ...knownRoutes(context),
      ...(plan.assets === undefined ? [] : assetRoutes(plan.assets, context)),
      ...plan.site.redirects.flatMap((rule) => ruleRoute(rule, context)),
      ...standInRoutes(context),
      ...notFoundLines(),
    ]),
  ]
  return { text: `${lines.join('\n')}\n`, left: context.left }
}

interface Context {
  readonly plan: ExportPlan
  readonly left: string[]
  matchers: number
}

const uri = '{http.request.uri}'
const path = '{http.request.uri.path}'
const byNavigation: Field = ['Vary', 'Accept, Sec-Fetch-Mode']
const noStore: Field = ['Cache-Control', 'no-store']

function refusals(): string[] {
  return [
    '@sd_method not method GET HEAD',
    ...block('route @sd_method {', [
      ...fieldLines([['Allow', 'GET, HEAD'], noStore]),
      'respond "405 Method Not Allowed" 405',
    ]),
    `@sd_unclean vars_regexp ${uri} ${quote(`(?i)${unclean}`)}`,
    ...block('route @sd_unclean {', notFoundLines()),
  ]
}

function notFoundLines(more: readonly Field[] = []): string[] {
  const fields: Field[] = [
    ...more,
    noStore,
    ['Content-Type', 'text/plain; charset=utf-8'],
    ['X-Content-Type-Options', 'nosniff'],
  ]
  return [...fieldLines(fields), 'respond "404 Not Found" 404']
}

/** One route for all paths whose files have the same fields, for Caddy tries one after the other. */
function knownRoutes(context: Context): string[] {
  const { paths, assets } = context.plan
  const groups = new Map<string, { lines: string[]; paths: string[] }>()
  const single: string[] = []
  const add = (lines: string[], planned: PlannedPath): void => {
    const key = lines.join('\n')
    const group = groups.get(key) ?? { lines, paths: [] }
    const place = placeOf(planned.path)
    // Braces would name a placeholder; how they are escaped is another thing in an imported file.
    if (/[{}]/.test(place) || !isWritable(place)) {
      const matcher = nameOf(context)
      const pattern = quote(rawTargetPattern([planned.path]).replaceAll(/\\(?=[{}])/g, ''))
      single.push(`${matcher} vars_regexp ${uri} ${pattern}`, ...block(`route ${matcher} {`, lines))
      return
    }
    groups.set(key, group)
    group.paths.push(`/${place}`)
  }
  for (const planned of paths) {
    if (planned.kind === 'file') {
      const isOwn = placeOf(planned.path) === planned.file.place
      if (!isOwn || assets?.files.has(planned.file) !== true) add(fileLines(planned, context), planned)
    } else if (planned.kind === 'missing') add(pageLines(planned.page, 404, false), planned)
    else if (planned.location === `${planned.path}/`) add(slashLines(true, planned), planned)
    else if (planned.path === `${planned.location}/`) add(slashLines(false, planned), planned)
    else
      single.push(...redirectRoute({ form: [planned.path], to: planned.location, ...planned }, [], context))
  }
  const grouped = [...groups.values()].flatMap((group) => {
    const matcher = nameOf(context)
    const names = group.paths.map(quote).join(' ')
    return [`${matcher} vars ${path} ${names}`].concat(block(`route ${matcher} {`, group.lines))
  })
  return [...single, ...grouped]
}

function redirectRoute(
  rule: Pick<RedirectPattern, 'form' | 'to'> & { readonly status: number },
  unless: readonly string[],
  context: Context,
): string[] {
  const matcher = nameOf(context)
  const captured = (group: number): string => `{http.regexp.${matcher.slice(1)}.${group}}`
  const location = writeLocation(rule, { text: escapeBraces, capture: captured, query: captured })
  const pattern = quote(rawTargetPattern(rule.form))
  return [
    ...block(`${matcher} {`, [`vars_regexp ${matcher.slice(1)} ${uri} ${pattern}`, ...unless]),
    ...block(`route ${matcher} {`, redirectLines(location, rule.status)),
  ]
}

/** A redirect that adds or takes away a slash; the path is as the client sent it. */
function slashLines(isAdded: boolean, { status }: { readonly status: number }): string[] {
  const [name, slash] = isAdded ? ['sd_add', '/'] : ['sd_take', '']
  const pattern = isAdded ? '^(/[^?]*)(\\?.*)?$' : '^(/[^?]*)/(\\?.*)?$'
  const matcher = `@${name}`
  return [
    `${matcher} vars_regexp ${name} ${uri} ${quote(pattern)}`,
    ...block(
      `route ${matcher} {`,
      redirectLines(`{http.regexp.${name}.1}${slash}{http.regexp.${name}.2}`, status),
    ),
  ]
}

function redirectLines(location: string, status: number): string[] {
  return [...fieldLines([['Cache-Control', 'no-cache']]), `redir * ${quote(location)} ${status}`]
}

function fileLines({ path: name, file }: Extract<PlannedPath, { kind: 'file' }>, context: Context): string[] {
  const place = placeOf(name)
  const isIndex = `${place}index.html` === file.place
  const rewrite = place === file.place || isIndex ? [] : rewriteLines(place, file, context)
  return [...headLines(file), ...rewrite, ...serveLines(file)]
}

/** The file of a path that is not its own. */
function rewriteLines(name: string, { place }: ExportedFile, { left }: Context): string[] {
  if (/[?#%]/.test(place) || !isWritable(place))
    left.push(`/${name}: Caddy cannot rewrite to the name ${place}`)
  return [`rewrite * ${name + '.html' === place ? `${path}.html` : quote(escapeBraces(`/${place}`))}`]
}

function headLines(
  file: Pick<ExportedFile, 'fields' | 'hasTime'> & { readonly mediaType: string },
): string[] {
  return fieldLines([['Content-Type', file.mediaType], ...file.fields])
}

function serveLines({ codings }: Pick<ExportedFile, 'codings'>, more: readonly string[] = []): string[] {
  if (codings.length === 0) return block('file_server {', ['index index.html', ...more])
  return [
    ...block('file_server @sd_whole {', ['index index.html', `precompressed ${codings.join(' ')}`, ...more]),
    ...block('file_server {', ['index index.html', ...more]),
  ]
}

/** Caddy says itself that a variant varies; what else may come as one must say so too. */
function fieldLines(fields: readonly Field[]): string[] {
  return fields.flatMap(([name, value]) => {
    if (name === 'Vary' && value === 'Accept-Encoding') return ['header ?Vary Accept-Encoding']
    return isWritable(value) ? [`header ${name} ${quote(escapeBraces(value))}`] : []
  })
}

function unwritable({ files }: ExportPlan): string[] {
  return files.flatMap(({ place, fields }) =>
    fields
      .filter(([, value]) => !isWritable(value))
      .map(([name]) => `${place}: Caddy has no way to write the field ${name}`),
  )
}

function assetRoutes(
  { path: assetsPath, fields, mediaTypes, hasTime }: AssetClass,
  context: Context,
): string[] {
  const { codings } = context.plan
  return [...mediaTypes].flatMap(([extension, mediaType]) => {
    const matcher = nameOf(context)
    const pattern = `^${escapePattern(`/${placeOf(assetsPath)}`)}.*${escapePattern(`.${extension}`)}$`
    const head = headLines({ mediaType, fields: [['Vary', 'Accept-Encoding'], ...fields], hasTime })
    const matched = [`vars_regexp ${path} ${quote(pattern)}`, `file ${path}`]
    return block(`${matcher} {`, matched).concat(
      block(`route ${matcher} {`, head.concat(serveLines({ codings }))),
    )
  })
}

function ruleRoute(rule: RedirectPattern, context: Context): string[] {
  const { form, image, status, target } = rule
  const pattern = rawTargetPattern(form)
  if (target === undefined) {
    const made = image === undefined ? [] : [`not vars_regexp ${uri} ${quote(rawTargetPattern(image))}`]
    return redirectRoute(rule, made, context)
  }
  const isForNavigations = status === 200 && target.isPage
  const { assetsPath } = context.plan.site
  const isOfAssets = assetsPath !== undefined && form[0]?.startsWith(assetsPath) === true
  const besides = isForNavigations && assetsPath !== undefined && !isOfAssets ? assetsPath : undefined
  return standInRoute({ status, target, isForNavigations }, { pattern, besides }, context)
}

function standInRoutes(context: Context): string[] {
  const { site, unknown, unknownAsset } = context.plan
  const { assetsPath, base } = site
  return [
    ...(assetsPath === undefined
      ? []
      : standInRoute(
          unknownAsset,
          { pattern: `^${escapePattern(assetsPath)}`, besides: undefined },
          context,
        )),
    ...standInRoute(unknown, { pattern: `^${escapePattern(base)}`, besides: assetsPath }, context),
  ]
}

function standInRoute(
  standIn: Pick<StandIn, 'status' | 'target' | 'isForNavigations'> | undefined,
  { pattern, besides }: { readonly pattern: string; readonly besides: string | undefined },
  context: Context,
): string[] {
  const file = context.plan.files.find(({ resource }) => resource === standIn?.target)
  if (file === undefined || standIn === undefined) return []
  const { status, isForNavigations } = standIn
  const matcher = nameOf(context)
  const other = besides === undefined ? [] : [`not vars_regexp ${uri} ${quote(`^${escapePattern(besides)}`)}`]
  const inner = pageLines(file, status, isForNavigations)
  return [
    ...block(`${matcher} {`, [`vars_regexp ${uri} ${quote(pattern)}`, ...other]),
    ...block(
      `route ${matcher} {`,
      isForNavigations
        ? [...block('route @sd_navigation {', inner), ...notFoundLines([byNavigation])]
        : inner,
    ),
  ]
}

function pageLines(page: ExportedFile, status: number, isForNavigations: boolean): string[] {
  const fresh = page.fields.filter(([name]) => !isFreshness(name.toLowerCase()))
  const fields = (status === 404 ? [...fresh, noStore] : page.fields).map(([name, value]): Field =>
    name === 'Vary' && isForNavigations ? [name, `${value}, ${byNavigation[1]}`] : [name, value],
  )
  const varies = fields.some(([name]) => name === 'Vary')
  const file = { ...page, fields: [...fields, ...(isForNavigations && !varies ? [byNavigation] : [])] }
  return [
    ...headLines(file),
    `rewrite * ${quote(escapeBraces(`/${page.place}`))}`,
    ...serveLines(file, status === 404 ? ['status 404'] : []),
  ]
}

function nameOf(context: Context): string {
  context.matchers += 1
  return `@sd_${context.matchers}`
}

function block(start: string, lines: readonly string[]): string[] {
  return [start, ...lines.map((line) => `\t${line}`), '}']
}

/** Braces would name a placeholder: for Caddy, which looks at imported text once more than at other. */
function escapeBraces(text: string): string {
  return text.includes('{') ? text.replaceAll(/[{}]/g, String.raw`\\$&`) : text
}

/** Whether Caddy has a way to write a text: variables of the environment are put in before all else. */
function isWritable(text: string): boolean {
  return !text.includes('{$') && !(text.includes('`') && /(?<!\\)(?:\\\\)*\\(?:"|$)/.test(text))
}

function quote(text: string): string {
  return text.includes('`') ? `"${text.replaceAll('"', String.raw`\"`)}"` : `\`${text}\``
}
