import { contentCodings } from '@serve-dist/manifest'
import { encodePath } from '../protocol/request-path.ts'
import { isFreshness } from '../site/representation-answers.ts'
import type { RedirectPattern, Resource } from '../site/site.ts'
import type { HostConfiguration } from './host-configuration.ts'
import { type ExportedFile, type ExportPlan, extensionOf, type Field, placeOf } from './plan-export.ts'
import { escapePattern, rawTargetPattern, writeLocation } from './raw-target-pattern.ts'
import { acceptsCoding, namesHtml, unclean } from './request-patterns.ts'

/** `.htaccess` by the folders that they go into, relative to the root, with a slash at their ends. */
export interface ApacheConfiguration extends Omit<HostConfiguration, 'text'> {
  readonly texts: ReadonlyMap<string, string>
}

const end = '(?:\\.(?:zst|br|gz))?$'
const variantSuffix = '\\.(?:zst|br|gz)$'

/** What Apache reads in the folders that it serves: rewriting and types at the root, the fields of files beside them. */
export function apacheConfiguration(plan: ExportPlan): ApacheConfiguration {
  const names = new Map(
    plan.files.flatMap(({ fields }) => fields.map(([name]) => [name.toLowerCase(), name])),
  )
  const { unknown, unknownAsset, site } = plan
  const standIns = new Set([unknown, unknownAsset, ...site.redirects].map((each) => each?.target))
  const context: Context = { types: usualTypes(plan), left: [], names: [...names.values()], standIns }
  const folders = new Map<string, ExportedFile[]>([['', []]])
  for (const file of plan.files) {
    const folder = file.place.slice(0, file.place.lastIndexOf('/') + 1)
    folders.set(folder, [...(folders.get(folder) ?? []), file])
    if (/[%#?]/.test(file.place))
      context.left.push(
        `${file.place}: Apache sends no variant of such a name, and no page without its .html`,
      )
  }
  const texts = new Map<string, string>()
  const above = new Map<string, readonly string[]>()
  for (const [folder, files] of [...folders].toSorted(([one], [other]) => one.length - other.length)) {
    const known = [...above].flatMap(([upper, found]) => (folder.startsWith(upper) ? found : []))
    const written = folderLines(files, new Set(known), context)
    above.set(folder, written.names)
    const lines = [...(folder === '' ? rootLines(plan) : []), ...written.lines]
    texts.set(folder, `${lines.join('\n')}\n`)
  }
  return { texts, left: context.left }
}

interface Context {
  /** By what a name ends with. */
  readonly types: ReadonlyMap<string, string>
  readonly left: string[]
  /** Of all fields of all files. */
  readonly names: readonly string[]
  /** Files that unknown paths are answered with. */
  readonly standIns: ReadonlySet<Resource | undefined>
}

function rootLines(plan: ExportPlan): string[] {
  const { site, files, paths, codings, unknown } = plan
  // They look like variants of other files.
  const originals = files.filter(({ place }) => new RegExp(variantSuffix).test(place))
  const named = `^(?:${originals.map(({ place }) => escapePattern(place)).join('|')})$`
  const page = files.find(({ resource }) => resource === unknown?.target)
  const isPage404 = unknown?.status === 404 && page !== undefined
  const index = isPage404 || page === undefined ? undefined : page
  return [
    'Options -Indexes -MultiViews',
    'DirectorySlash Off',
    'DirectoryIndex disabled',
    'AcceptPathInfo Off',
    'FileETag MTime Size',
    'RemoveEncoding .gz .tgz .br .zst .Z',
    'RemoveLanguage .br',
    'SetEnv no-gzip 1',
    'SetEnv no-brotli 1',
    'ErrorDocument 404 "404 Not Found"',
    ...(isPage404
      ? block(
          `<If ${quote(`(%{HTTP:Sec-Fetch-Mode} =~ /^navigate$/i || (-z %{HTTP:Sec-Fetch-Mode} && %{HTTP:Accept} =~ m#${namesHtml}#i)) && %{REQUEST_URI} =~ m#^/${escapePattern(placeOf(site.base))}#`)}>`,
          [`ErrorDocument 404 ${quote(`/${encodePath(page.place)}`)}`],
          '</If>',
        )
      : []),
    'Header always set Cache-Control "no-store" "expr=%{REQUEST_STATUS} == 404"',
    ...(page === undefined
      ? []
      : [
          'Header always set Vary "Accept, Sec-Fetch-Mode" "expr=%{REQUEST_STATUS} == 404 && -z %{ENV:REDIRECT_STATUS}"',
        ]),
    'Header always set X-Content-Type-Options "nosniff" "expr=%{REQUEST_STATUS} == 404 && -z %{ENV:REDIRECT_STATUS}"',
    'Header always set Cache-Control "no-store" "expr=%{REQUEST_STATUS} == 405"',
    'Header always set Cache-Control "no-cache" "expr=%{REQUEST_STATUS} =~ /^30[12378]$/"',
    'Header set Content-Encoding "%{REDIRECT_sd_coding}e" env=REDIRECT_sd_coding',
    'RewriteEngine On',
    'RewriteBase /',
    'RewriteCond %{REQUEST_METHOD} !^(?:GET|HEAD|OPTIONS)$',
    'RewriteRule ^ - [R=405,END]',
    'RewriteCond %{ENV:REDIRECT_STATUS} .',
    'RewriteRule ^ - [END]',
    `RewriteCond %{THE_REQUEST} ${quotePattern(unclean.replace('^', '^\\S+ '))} [NC]`,
    'RewriteRule ^ - [R=404,END]',
    ...(originals.length === 0 ? [] : [`RewriteRule ${quotePattern(named)} - [END]`]),
    `RewriteRule ${quotePattern(`${variantSuffix.slice(0, -1)}$|(?:^|/)\\.ht`)} - [R=404,END]`,
    ...paths.flatMap((planned) => {
      if (planned.kind === 'missing')
        return [`RewriteRule ${quotePattern(`^${escapePattern(placeOf(planned.path))}$`)} - [R=404,END]`]
      if (planned.kind === 'file') {
        const place = placeOf(planned.path)
        const isUsual = [place, `${place}.html`, `${place}index.html`].includes(planned.file.place)
        return isUsual
          ? []
          : [`RewriteRule ${quotePattern(`^${escapePattern(place)}$`)} ${substitution(planned.file.place)}`]
      }
      const isUsual = planned.location === `${planned.path}/` || planned.path === `${planned.location}/`
      return isUsual ? [] : redirectLines({ form: [planned.path], to: planned.location, ...planned })
    }),
    // A page's own names.
    'RewriteCond %{REQUEST_FILENAME} !-f',
    'RewriteCond %{REQUEST_URI} !(?:[%#?]|(?:^|/)index$)',
    'RewriteCond %{REQUEST_FILENAME}.html -f',
    'RewriteRule "^(.*[^/])$" "$1.html"',
    'RewriteCond %{REQUEST_FILENAME} -d',
    'RewriteCond %{REQUEST_FILENAME}/index.html -f',
    'RewriteRule "^(.*/|)$" "$1index.html"',
    // Those with or without the slash that is wrong.
    'RewriteCond %{REQUEST_FILENAME} -d',
    'RewriteCond %{REQUEST_FILENAME}/index.html -f',
    'RewriteCond %{THE_REQUEST} "^\\S+ ([^?\\s]*[^/?\\s])"',
    'RewriteRule "^.*[^/]$" "%1/" [R=308,NE,END]',
    'RewriteCond %{REQUEST_FILENAME} !-d',
    'RewriteCond %{REQUEST_FILENAME} "^(.+?)/?$"',
    'RewriteCond %1.html -f',
    'RewriteCond %{THE_REQUEST} "^\\S+ ([^?\\s]*)/(?:\\?\\S*)?\\s"',
    'RewriteRule "^.+/$" "%1" [R=308,NE,END]',
    ...site.redirects.flatMap((rule) => ruleLines(rule, plan)),
    ...(index === undefined ? [] : fallbackLines(index, plan)),
    'RewriteCond %{REQUEST_FILENAME} !-f',
    'RewriteRule ^ - [R=404,END]',
    ...codings.flatMap((coding) => [
      'RewriteCond %{HTTP:Range} =""',
      'RewriteCond %{REQUEST_URI} ![%#?]',
      `RewriteCond %{HTTP:Accept-Encoding} ${quotePattern(acceptsCoding(coding))} [NC]`,
      `RewriteCond %{REQUEST_FILENAME}${suffixOf(coding)} -f`,
      `RewriteCond $1${suffixOf(coding)} ${quotePattern(`!${named}`)}`,
      `RewriteRule "^(.+)$" "$1${suffixOf(coding)}" [E=sd_coding:${coding},END]`,
    ]),
    ...typeLines(plan),
  ]
}

const navigation = `RewriteCond "%{HTTP:Sec-Fetch-Mode}|%{HTTP:Accept}" ${quotePattern(String.raw`^(?:navigate\||\|(?:.*,)?\s*text/html\s*(?:[;,]|$))`)} [NC]`

function fallbackLines(page: ExportedFile, { site }: ExportPlan): string[] {
  const { assetsPath, base } = site
  return [
    'RewriteCond %{REQUEST_FILENAME} !-f',
    navigation,
    ...(assetsPath === undefined
      ? []
      : [`RewriteCond %{REQUEST_URI} ${quotePattern(`!^/${escapePattern(placeOf(assetsPath))}`)}`]),
    `RewriteCond %{REQUEST_URI} ${quotePattern(`^/${escapePattern(placeOf(base))}`)}`,
    `RewriteRule ^ ${substitution(page.place)} [E=sd_fallback:1]`,
  ]
}

function ruleLines(rule: RedirectPattern, { site, files }: ExportPlan): string[] {
  const { form, image, status, target } = rule
  const pattern = rawTargetPattern(form)
  if (target === undefined) {
    const made =
      image === undefined
        ? []
        : [`RewriteCond %{THE_REQUEST} ${quotePattern(`!${requested(rawTargetPattern(image))}`)}`]
    return ['RewriteCond %{REQUEST_FILENAME} !-f', ...redirectLines(rule, made)]
  }
  const page = files.find(({ resource }) => resource === target)
  if (page === undefined) return []
  const isForNavigations = status === 200 && target.isPage
  const isOfAssets = site.assetsPath !== undefined && form[0]?.startsWith(site.assetsPath) === true
  return [
    'RewriteCond %{REQUEST_FILENAME} !-f',
    ...(isForNavigations ? [navigation] : []),
    ...(isForNavigations && site.assetsPath !== undefined && !isOfAssets
      ? [`RewriteCond %{REQUEST_URI} ${quotePattern(`!^/${escapePattern(placeOf(site.assetsPath))}`)}`]
      : []),
    `RewriteCond %{THE_REQUEST} ${quotePattern(requested(pattern))}`,
    status === 404
      ? 'RewriteRule ^ - [R=404,END]'
      : `RewriteRule ^ ${substitution(page.place)}${isForNavigations ? ' [E=sd_fallback:1]' : ''}`,
  ]
}

function redirectLines(
  rule: Pick<RedirectPattern, 'form' | 'to'> & { readonly status: number },
  conditions: readonly string[] = [],
): string[] {
  // Apache itself adds the query of the request.
  const write = { text: substitution, capture: (group: number) => `%${group}`, query: () => '' }
  return [
    ...conditions,
    `RewriteCond %{THE_REQUEST} ${quotePattern(requested(rawTargetPattern(rule.form)))}`,
    `RewriteRule ^ ${writeLocation(rule, write)} [R=${rule.status},NE,END]`,
  ]
}

/** A pattern over the target of a request line. */
function requested(pattern: string): string {
  return pattern.replace('^', '^\\S+ ').replace('(\\?.*)?$', '(\\?\\S*)?\\s')
}

/** Text, without quotes around it, in which `$1` and `%1` stand for nothing. */
function substitution(text: string): string {
  return text.replaceAll(/[$%\\\s"']/g, String.raw`\$&`)
}

function typeLines(plan: ExportPlan): string[] {
  return [...usualTypes(plan)].flatMap(([extension, type]) =>
    block(`<FilesMatch ${quote(`\\.${extension}${end}`)}>`, [`ForceType ${quote(type)}`], '</FilesMatch>'),
  )
}

/**
 * All fields of a folder's files: what most of them have, then the others by their names. What a section says of a name
 * holds in the folders below, too: there the name gets a section of its own.
 */
function folderLines(files: readonly ExportedFile[], above: ReadonlySet<string>, context: Context): Folder {
  const groups = new Map<string, ExportedFile[]>()
  for (const file of files) {
    const key = JSON.stringify([file.fields, file.hasTime])
    groups.set(key, [...(groups.get(key) ?? []), file])
  }
  const [common = [], ...others] = [...groups.values()].toSorted((one, other) => other.length - one.length)
  const commons = new Set(common)
  const isNamed = (file: ExportedFile): boolean =>
    above.has(nameOf(file)) || context.types.get(extensionOf(file.place)) !== file.mediaType
  const named = [common.filter(isNamed), ...others].filter((group) => group.length > 0)
  return {
    names: named.flat().map(nameOf),
    lines: [
      ...fieldLines(common[0], context),
      ...named.flatMap((group) => forFiles(group, fieldLines(group[0], context))),
      ...files
        .filter((file) => isNamed(file) || !commons.has(file))
        .flatMap((file) => forFiles([file], [`ForceType ${quote(file.mediaType)}`])),
    ],
  }
}

interface Folder {
  readonly lines: readonly string[]
  /** Of files that have a section. */
  readonly names: readonly string[]
}

function nameOf({ place }: ExportedFile): string {
  return place.slice(place.lastIndexOf('/') + 1)
}

/** The type that a name's end says, where it is no coding's. */
function usualTypes({ files }: ExportPlan): ReadonlyMap<string, string> {
  const types = new Map<string, string>()
  for (const { place, mediaType } of files) {
    const extension = extensionOf(place)
    if (/^\w+$/.test(extension) && !/^(?:zst|br|gz)$/.test(extension) && !types.has(extension)) {
      types.set(extension, mediaType)
    }
  }
  return types
}

function forFiles(files: readonly ExportedFile[], lines: readonly string[]): string[] {
  const blocks: string[] = []
  for (let index = 0; index < files.length; index += 50) {
    const names = files.slice(index, index + 50).map((file) => escapePattern(nameOf(file)))
    blocks.push(...block(`<FilesMatch ${quote(`^(?:${names.join('|')})${end}`)}>`, lines, '</FilesMatch>'))
  }
  return blocks
}

/** Every field that some file has: set, or taken away again where it comes from a folder above. */
function fieldLines(file: ExportedFile | undefined, { names, left, standIns }: Context): string[] {
  const fields = new Map<string, Field>()
  for (const field of file?.fields ?? []) fields.set(field[0].toLowerCase(), field)
  const lines = names.flatMap((name) => {
    const [, value] = fields.get(name.toLowerCase()) ?? []
    if (value === undefined) return [`Header unset ${name}`]
    if (value.includes('${')) {
      left.push(`${file?.place}: Apache has no way to write \${ in the field ${name}`)
      return []
    }
    const isFresh = isFreshness(name.toLowerCase())
    const unless = isFresh ? ' "expr=%{REQUEST_STATUS} != 404"' : ''
    return [`Header set ${name} ${quote(value.replaceAll(/[%\\]/g, '$&$&'))}${unless}`]
  })
  return [
    ...lines,
    ...(file?.hasTime === false ? ['Header unset Last-Modified'] : []),
    ...(file !== undefined && standIns.has(file.resource)
      ? [
          'Header merge Vary "Accept, Sec-Fetch-Mode" env=REDIRECT_sd_fallback',
          'Header merge Vary "Accept, Sec-Fetch-Mode" "expr=%{REQUEST_STATUS} == 404"',
        ]
      : []),
  ]
}

function suffixOf(coding: string): string {
  return contentCodings.find(({ name }) => name === coding)?.extension ?? ''
}

function block(start: string, lines: readonly string[], close: string): string[] {
  return [start, ...lines.map((line) => `  ${line}`), close]
}

function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}

/** A pattern of mod_rewrite, which takes its lines apart by itself and knows no escape of a quote. */
function quotePattern(pattern: string): string {
  return `"${pattern.replaceAll('"', String.raw`\x22`)}"`
}
