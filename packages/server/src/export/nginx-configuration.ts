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
import { escapePattern, rawTargetPattern, withoutCaptures, writeLocation } from './raw-target-pattern.ts'
import { isFreshnessField } from '../site/representation-answers.ts'
import { codingPattern, htmlPattern, uncleanTargetPattern } from './request-patterns.ts'

/**
 * What goes into a server block of nginx. It needs no module beyond those that every nginx has: it finds the variants
 * by itself, those in zstd too.
 *
 * @param folder - of the build, below the one that the operator's `$site` names.
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

/** nginx sorts locations by insertion, with `/` before all else: 15,000 in another order take it seconds. */
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
  /** Locations that only rules lead to. */
  readonly pages: string[]
  count: number
}

const noStore: Field = ['Cache-Control', 'no-store']
const noSniff: Field = ['X-Content-Type-Options', 'nosniff']
const refusal = String.raw`return 404 "404 Not Found\n";`

/** What a request asks for, and which variant it may get: by the codings that a file has, or by what lies there. */
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
    '# A range is one of the plain file.',
    'if ($http_range) { set $sd_accept ""; }',
    ...sets.map((set) => `set $sd_${set} ""; set $sd_${set}_coding "";`),
    ...codings.map((coding) => `set $sd_takes_${coding} .none;`),
    ...takes.flat(),
    'set $sd_navigation 0;',
    `if ($http_accept ~* ${quote(htmlPattern)}) { set $sd_navigation 1; }`,
    'if ($http_sec_fetch_mode) { set $sd_navigation 0; }',
    'if ($http_sec_fetch_mode ~* "^navigate$") { set $sd_navigation 1; }',
    'if ($request_method !~ "^(?:GET|HEAD)$") { return 405; }',
    `if ($request_uri ~* ${quote(uncleanTargetPattern)}) { rewrite ^ /.serve-dist/404 last; }`,
    ...(assets === undefined ? [] : assetVariables(codings)),
  ]
}

/** Hashed files are too many to be named, and a new build may lie there before nginx is reloaded. */
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

/** The file of a path in nginx's words. */
function aliasOf(name: string, place: string): string | undefined {
  for (const end of ['.html', 'index.html']) if (name + end === place) return `\${uri}${end}`
  return literalOf(place)
}

/** A path as it is, which cannot have nginx's sign for variables. */
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
    context.left.push(`${file.place}: nginx has no way to write the $ in its name`)
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

/** A time that was made of a digest is later or earlier than no other. */
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
    left.push(`${of}: nginx has no way to write the $ in the field ${name}`)
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

/** A redirect rule, a page in the place of what is not there, or a 404. */
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
  // What the rule itself has made is not sent on, or it would never end.
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

/** A file under a name of ours, which no client can ask for. */
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

/** The codings of a file as the name of a variable: `zbg`. */
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
