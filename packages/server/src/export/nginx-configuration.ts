import { escapePattern } from '@serve-dist/foundation/text/escape-pattern'
import { contentCodings, type ContentCoding } from '@serve-dist/manifest'
import type { FallbackMatch } from '../site/decide.ts'
import type { RedirectPattern } from '../site/site.ts'
import type { HostConfiguration } from './host-configuration.ts'
import {
  type AssetClass,
  type ExportedFile,
  type ExportPlan,
  type Field,
  type PlannedPath,
  decodeUrlPath,
} from './plan-export.ts'
import { rawTargetPattern, withoutCaptures, writeLocation } from './raw-target-pattern.ts'
import { isFreshnessField } from '../site/representation-answers.ts'
import { anyTypePattern, codingPattern, htmlPattern, uncleanTargetPattern } from './request-patterns.ts'

/**
 * Returns the content of a server block for nginx. It needs no optional module, and finds the variants with plain
 * variables, including those in zstd.
 *
 * @param folder - the folder of the build, relative to the operator's `$site`.
 */
export function nginxConfiguration(plan: ExportPlan, folder: string): HostConfiguration {
  const context: Context = { plan, left: [], pages: [], count: 0 }
  const known = inOrderOfNginx(plan.paths).flatMap((each) => locationOf(each, context))
  const assets = plan.assets === undefined ? [] : assetLocation(plan.assets, context)
  const unknown = unknownLocations(context)
  const lines = [
    'absolute_redirect off;',
    'charset off;',
    'etag on;',
    'gzip off;',
    'max_ranges 1;',
    'error_page 405 /.serve-dist/405;',
    'types {}',
    `root "$site/${folder}";`,
    '',
    ...serverVariables(plan),
    '',
    ...known,
    ...assets,
    ...unknown,
    ...context.pages,
  ]
  return { text: `${lines.join('\n')}\n`, left: context.left }
}

/** Sorts paths like nginx, which puts `/` first. Sorting 15,000 locations in another order takes nginx seconds. */
function inOrderOfNginx(paths: readonly PlannedPath[]): readonly PlannedPath[] {
  const keyed = paths.map((each) => ({
    each,
    key: Buffer.from(decodeUrlPath(each.path).replaceAll('/', '\0')),
  }))
  return keyed.toSorted((one, other) => one.key.compare(other.key)).map(({ each }) => each)
}

interface Context {
  readonly plan: ExportPlan
  readonly left: string[]
  /** Internal locations, which only rules use. */
  readonly pages: string[]
  count: number
}

const noStore: Field = ['Cache-Control', 'no-store']
const noSniff: Field = ['X-Content-Type-Options', 'nosniff']
const refusal = String.raw`return 404 "404 Not Found\n";`

/** Returns the variables of a request and of the variants that it accepts. */
function serverVariables({ files, assets, codings }: ExportPlan): string[] {
  const sets = [...new Set(files.map(setOf).filter((set) => set !== ''))]
  const takes = codings.toReversed().map((coding) => {
    const named = sets.filter((set) => set.includes(letterOf(coding)))
    return block(`if ($sd_accept ~* ${quote(codingPattern(coding))}) {`, [
      `set $sd_takes_${coding} ${suffixOf(coding)};`,
      ...named.map((set) => `set $sd_${set} ${suffixOf(coding)}; set $sd_${set}_coding ${coding};`),
    ])
  })
  return [
    'set $sd_no_store ""; set $sd_vary "";',
    'set $sd_accept $http_accept_encoding;',
    '# Ranges apply to the uncompressed file.',
    'if ($http_range) { set $sd_accept ""; }',
    ...sets.map((set) => `set $sd_${set} ""; set $sd_${set}_coding "";`),
    ...codings.map((coding) => `set $sd_takes_${coding} .none;`),
    ...takes.flat(),
    'set $sd_navigation 0;',
    `if ($http_accept ~* ${quote(anyTypePattern)}) { set $sd_navigation 1; }`,
    String.raw`if ($uri ~ "\.[^/]*$") { set $sd_navigation 0; }`,
    `if ($http_accept ~* ${quote(htmlPattern)}) { set $sd_navigation 1; }`,
    'if ($http_sec_fetch_mode) { set $sd_navigation 0; }',
    'if ($http_sec_fetch_mode ~* "^navigate$") { set $sd_navigation 1; }',
    'if ($request_method !~ "^(?:GET|HEAD)$") { return 405; }',
    `if ($request_uri ~* ${quote(uncleanTargetPattern)}) { rewrite ^ /.serve-dist/404 last; }`,
    ...(assets === undefined ? [] : assetVariables(codings)),
  ]
}

/** Looks for variants on the disk: hashed files are too many to list, and a new build may arrive before a reload. */
function assetVariables(codings: readonly ContentCoding[]): string[] {
  return [
    'set $sd_asset ""; set $sd_asset_coding ""; set $sd_asset_vary "";',
    ...codings
      .toReversed()
      .flatMap((coding) => [
        `if (-f "$document_root$uri${suffixOf(coding)}") { set $sd_asset_vary "Accept-Encoding"; }`,
        `if (-f "$document_root$uri$sd_takes_${coding}") { set $sd_asset ${suffixOf(coding)}; set $sd_asset_coding ${coding}; }`,
      ]),
  ]
}

function locationOf(planned: PlannedPath, context: Context): string[] {
  const name = decodeUrlPath(planned.path)
  const start = `location = ${quote(`/${name}`)} {`
  if (planned.kind === 'redirect')
    return block(start, redirectLines(planned, { form: [], to: planned.location }))
  if (planned.kind === 'hidden') return block(start, pageLines({ ...planned, status: 404 }, context))
  const { file } = planned
  const isOwn = name === file.place
  if (isOwn && context.plan.assets?.files.has(file) === true) return []
  return block(start, fileLines(file, isOwn ? '$uri' : aliasOf(name, file.place), context))
}

/** Returns the file of a path with nginx's variables. */
function aliasOf(name: string, place: string): string | undefined {
  for (const end of ['.html', 'index.html']) if (name + end === place) return `\${uri}${end}`
  return literalOf(place)
}

/** Returns a literal path, or `undefined` if it contains `$`, which nginx cannot escape. */
function literalOf(place: string): string | undefined {
  return place.includes('$') ? undefined : `/${place}`
}

function fileLines(
  file: ExportedFile,
  place: string | undefined,
  context: Context,
  always = false,
): string[] {
  if (place === undefined) {
    context.left.push(`${file.place}: nginx cannot escape the $ in its name`)
    return [refusal]
  }
  const set = setOf(file)
  return [
    `default_type ${quote(file.mediaType)};`,
    ...timeLines(file),
    ...fieldLines(file.fields, context, { of: file.place, always }),
    ...(set === '' ? [] : [`add_header Content-Encoding $sd_${set}_coding${always ? ' always' : ''};`]),
    `try_files ${quote(set === '' ? place : `${place}$sd_${set}`)} =404;`,
  ]
}

/** A time that is derived from a digest cannot be compared with a date. */
function timeLines({ hasTime }: Pick<ExportedFile, 'hasTime'>): string[] {
  return hasTime ? ['if_modified_since before;'] : ['if_modified_since off;', 'add_header Last-Modified "";']
}

function fieldLines(
  fields: readonly Field[],
  { left }: Context,
  { of, always = false }: { readonly of: string; readonly always?: boolean },
): string[] {
  return fields.flatMap(([name, value]) => {
    if (!value.includes('$')) return [`add_header ${name} ${quote(value)}${always ? ' always' : ''};`]
    left.push(`${of}: nginx cannot escape the $ in the header ${name}`)
    return []
  })
}

function redirectLines(
  { status }: { readonly status: number },
  where: Pick<RedirectPattern, 'form' | 'to'>,
): string[] {
  return ['add_header Cache-Control "no-cache";', `return ${status} ${quote(writeLocation(where))};`]
}

function assetLocation({ path, fields, mediaTypes, hasTime }: AssetClass, context: Context): string[] {
  const nested = [...mediaTypes].map(([extension, mediaType]) =>
    block(`location ~ ${quote(`${escapePattern(`.${extension}`)}$`)} {`, [
      `default_type ${quote(mediaType)};`,
      ...timeLines({ hasTime }),
      ...fieldLines(fields, context, { of: path }),
      'add_header Vary $sd_asset_vary;',
      'add_header Content-Encoding $sd_asset_coding;',
      'try_files "$uri$sd_asset" @serve_dist_unknown;',
    ]),
  )
  return block(`location ^~ ${quote(`/${decodeUrlPath(path)}`)} {`, [
    ...nested.flat(),
    'try_files /.none @serve_dist_unknown;',
  ])
}

/** Returns the locations for unknown paths: redirect rules, fallback pages and 404s. */
function unknownLocations(context: Context): string[] {
  const { site, unknown, unknownAsset } = context.plan
  const base = escapePattern(`/${decodeUrlPath(site.base)}`)
  const assets =
    site.assetsPath === undefined ? undefined : escapePattern(`/${decodeUrlPath(site.assetsPath)}`)
  const plainText = 'default_type "text/plain; charset=utf-8";'
  return [
    'location / { try_files /.none @serve_dist_unknown; }',
    ...block('location @serve_dist_unknown {', [
      plainText,
      ...fieldLines([noSniff], context, { of: '404', always: true }),
      'add_header Cache-Control "no-cache";',
      'add_header Cache-Control $sd_no_store always;',
      'add_header Vary $sd_vary always;',
      'set $sd_question "$sd_navigation$request_uri";',
      ...site.redirects.flatMap((rule) => ruleLines(rule, context)),
      'set $sd_question "$sd_navigation$uri";',
      ...(assets === undefined ? [] : fallbackLines(unknownAsset, `^1${assets}`, context)),
      ...fallbackLines(unknown, `^1${assets === undefined ? '' : `(?!${assets})`}${base}`, context),
      'set $sd_no_store "no-store";',
      refusal,
    ]),
    ...block('location = /.serve-dist/405 {', [
      'internal;',
      plainText,
      ...fieldLines([['Allow', 'GET, HEAD'], noStore, noSniff], context, { of: '405', always: true }),
      String.raw`return 405 "405 Method Not Allowed\n";`,
    ]),
    ...block('location = /.serve-dist/404 {', [
      'internal;',
      plainText,
      ...fieldLines([noStore, noSniff], context, { of: '404', always: true }),
      refusal,
    ]),
  ]
}

function ruleLines(rule: RedirectPattern, context: Context): string[] {
  const { form, image, status, target } = rule
  if (rule.query !== undefined) {
    context.left.push(`${rule.from}: the rule is omitted, because it depends on the query`)
    return []
  }
  if (rule.proxy !== undefined) {
    context.left.push(`the rule ${rule.from} is omitted, because the server proxies its paths`)
    return []
  }
  const pattern = rawTargetPattern(form).slice(1)
  const { assetsPath } = context.plan.site
  if (target !== undefined) {
    const isForNavigations = status === 200 && target.isPage
    const isOfAssets = assetsPath !== undefined && form[0]?.startsWith(assetsPath) === true
    const besides =
      isForNavigations && assetsPath !== undefined && !isOfAssets ? `(?!${escapePattern(assetsPath)})` : ''
    const asked = `^${isForNavigations ? '1' : '[01]'}${besides}${pattern}`
    return fallbackLines({ status, location: '', target, isForNavigations }, asked, context)
  }
  // Skip targets that the rule itself produced. Otherwise the redirect would loop.
  const made = image === undefined ? '' : `(?!${withoutCaptures(rawTargetPattern(image).slice(1))})`
  return block(`if ($sd_question ~ ${quote(`^[01]${made}${pattern}`)}) {`, [
    `return ${status} ${quote(writeLocation(rule))};`,
  ])
}

function fallbackLines(match: FallbackMatch | undefined, pattern: string, context: Context): string[] {
  const { target, status, isForNavigations } = match ?? {}
  const file = context.plan.files.find(({ resource }) => resource === target)
  if (file === undefined || status === undefined) return []
  const varies = isForNavigations === true
  const others = quote(pattern.replace('^1', '^0'))
  return [
    ...block(`if ($sd_question ~ ${quote(pattern)}) {`, pageLines({ page: file, status, varies }, context)),
    ...(varies ? [`if ($sd_question ~ ${others}) { set $sd_vary "Accept, Sec-Fetch-Mode"; }`] : []),
  ]
}

/** Serves a file at an internal path, which clients cannot request. */
function pageLines(
  { page, status, varies = false }: { page: ExportedFile; status: number; varies?: boolean },
  context: Context,
): string[] {
  const name = `/.serve-dist/page-${(context.count += 1)}`
  const more: readonly Field[] = varies ? [['Vary', 'Accept, Sec-Fetch-Mode']] : []
  const fields = page.fields.filter(([field]) => !isFreshnessField(field.toLowerCase()))
  const is404 = status === 404
  const file = { ...page, fields: [...(is404 ? [...fields, noStore] : page.fields), ...more] }
  const lines = fileLines(file, literalOf(page.place), context, is404)
  context.pages.push(...block(`location = ${name} {`, ['internal;', ...lines]))
  return status === 404 ? [`error_page 404 ${name};`, 'return 404;'] : [`rewrite ^ ${name} last;`]
}

/** Returns the initials of a file's codings for the names of variables, such as `zbg`. */
function setOf({ codings }: ExportedFile): string {
  return codings.map(letterOf).join('')
}

function letterOf(coding: ContentCoding): string {
  return coding.charAt(0)
}

function suffixOf(coding: ContentCoding): string {
  return contentCodings.find(({ name }) => name === coding)?.extension ?? ''
}

function block(start: string, lines: readonly string[]): string[] {
  return [start, ...lines.map((line) => `  ${line}`), '}']
}

function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}
