import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ManifestLink } from '@serve-dist/manifest'
import type { LinksOf } from '../precompress-options.ts'
import type { PagePreloads } from '../record/build-record.ts'
import { type ChunkGraph, followImports } from './follow-imports.ts'
import { fontsOfStyle } from './fonts-of-style.ts'
import type { PageContent, PageReference } from './read-page.ts'
import { parseUrl } from './parse-url.ts'

/** The build that the pages of a folder belong to. */
export interface LinkedFolder {
  /** Absolute path. */
  readonly folder: string
  readonly base: string
  readonly graph: ChunkGraph
}

/** The build of a page. All paths are relative to its folder. */
export interface PageBuild {
  /** The base, decoded. */
  readonly base: string
  readonly paths: ReadonlySet<string>
  readonly graph: ChunkGraph
  /** Reads the text of a stylesheet. Set if fonts are wanted. */
  readonly readStyle: ((path: string) => Promise<string>) | undefined
}

/** A placeholder origin. URLs with another origin are not files of this build. */
const origin = 'http://page.invalid'

/**
 * Maximum length of all links in bytes. nginx accepts 4 KB of fields from an upstream server and otherwise answers 502.
 * Links beyond the limit are omitted.
 */
const mostBytes = 2048
const bytesAround = '<>; rel=modulepreload; crossorigin, '.length

/** Creates a function that finds the links of a page, from its final text on the disk. */
export function createLinksOf({ folder, base, graph }: LinkedFolder, { fonts }: PagePreloads): LinksOf {
  const styles = new Map<string, Promise<string>>()
  const read = (path: string): Promise<string> => readFile(join(folder, path), 'utf8')
  const readStyle = (path: string): Promise<string> => {
    const text = styles.get(path) ?? read(path)
    styles.set(path, text)
    return text
  }
  return async (page, paths, readElements) => {
    // Load the HTML parser on demand.
    const { readPage } = await import('./read-page.ts')
    const build = { base, paths, graph, readStyle: fonts ? readStyle : undefined }
    return await linksOfPage(page, readPage(await readElements()), build)
  }
}

/**
 * Returns the files that a browser requests next for a page: styles, module scripts with their static imports, and
 * fonts. Follows no imports if the page has no script of this build.
 */
export async function linksOfPage(
  page: string,
  content: PageContent,
  build: PageBuild,
): Promise<ManifestLink[]> {
  const location = new URL(encodePath(build.base + page), origin)
  const documentBase = parseUrl(content.baseUrl ?? '', location) ?? location
  const named = content.references.flatMap((reference) => {
    const path = pathOf(reference.url, documentBase, build)
    return path === undefined ? [] : [{ ...reference, path }]
  })
  const particular = new Set(named.filter(({ isParticular }) => isParticular).map(({ path }) => path))
  const pathsOf = (kind: PageReference['kind']): string[] =>
    named.filter((reference) => reference.kind === kind).map(({ path }) => path)
  const scripts = named.filter(({ isScript }) => isScript).map(({ path }) => path)
  const needs = followImports(scripts, build.graph)

  const styles = [...pathsOf('style'), ...needs.styles]
  const modules = [...scripts, ...needs.modules, ...pathsOf('module')]
  const fonts = [...pathsOf('font'), ...(await fontsOf(styles, build))]
  const isLinked = (path: string): boolean => build.paths.has(path) && !particular.has(path)
  // Browsers before 2025 ignore an import map after a `modulepreload`, and a `Link` field comes before the page's map.
  const moduleHint = content.hasImportMap
    ? ({ rel: 'preload', as: 'script', crossorigin: true } as const)
    : ({ rel: 'modulepreload' } as const)
  const linkTo = (kind: PageReference['kind'], path: string): ManifestLink => {
    const found = named.find((reference) => reference.kind === kind && reference.path === path)
    const inDocument = found !== undefined
    if (kind === 'module') return { path, ...moduleHint, inDocument }
    // For a stylesheet that a script loads, use the same mode as Vite's own loader.
    const isCors = kind === 'style' && (found?.crossorigin ?? true)
    return { path, rel: 'preload', as: kind, ...(isCors && { crossorigin: true }), inDocument }
  }
  return withinBytes(build.base, [
    ...distinct(styles, isLinked).map((path) => linkTo('style', path)),
    ...distinct(modules, isLinked).map((path) => linkTo('module', path)),
    ...distinct(fonts, isLinked).map((path) => linkTo('font', path)),
  ])
}

function distinct(paths: readonly string[], holds: (path: string) => boolean): string[] {
  return [...new Set(paths)].filter(holds)
}

async function fontsOf(styles: readonly string[], build: PageBuild): Promise<string[]> {
  const fonts: string[] = []
  for (const style of new Set(styles)) {
    if (build.readStyle === undefined || !build.paths.has(style)) continue
    const location = new URL(encodePath(build.base + style), origin)
    const urls = fontsOfStyle(await build.readStyle(style))
    fonts.push(...urls.flatMap((url) => pathOf(url, location, build) ?? []))
  }
  return fonts
}

/** Returns the path of the file that a URL names, `undefined` if it is not a file of this build. */
function pathOf(url: string, from: URL, { base, paths }: PageBuild): string | undefined {
  const absolute = parseUrl(url, from)
  // A URL with a query is another entry of the browser's cache.
  if (absolute === undefined || absolute.origin !== origin || absolute.search !== '') return undefined
  const path = decode(absolute.pathname)
  return path?.startsWith(base) === true && paths.has(path.slice(base.length))
    ? path.slice(base.length)
    : undefined
}

function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    // No file has such a name.
    return undefined
  }
}

function withinBytes(base: string, links: readonly ManifestLink[]): ManifestLink[] {
  let bytes = 0
  return links.filter(({ path }) => {
    bytes += encodePath(base + path).length + bytesAround
    return bytes <= mostBytes
  })
}
