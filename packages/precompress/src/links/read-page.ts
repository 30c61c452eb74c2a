import { baseUrlOf, type PageElement } from './elements-of-page.ts'

/** What a page asks a browser to fetch at once. */
export interface PageReference {
  readonly kind: 'module' | 'style' | 'font'
  /** Whether it runs, and is not only fetched ahead. */
  readonly isScript: boolean
  /** As it stands in the page. */
  readonly url: string
  /** Whether it is fetched in CORS mode; a hint in another mode is fetched twice. */
  readonly crossorigin: boolean
  /** Whether more must agree than a `Link` of ours can say: credentials, integrity. */
  readonly isParticular: boolean
}

/** What a page says about its own URLs and about others. */
export interface PageContent {
  /** The `href` of its `<base>`. */
  readonly baseUrl: string | undefined
  readonly references: readonly PageReference[]
  /** Whether it says where modules lie: a map that comes after the first module is ignored by older browsers. */
  readonly hasImportMap: boolean
}

type Attributes = PageElement['attributes']

/** Reads the module scripts, stylesheets and preloads that a page names, in their order. */
export function readPage(elements: readonly PageElement[]): PageContent {
  const references = elements.flatMap(({ tag, kind, attributes }) => {
    if (kind !== 'html') return []
    const reference = tag === 'script' ? readScript(attributes) : tag === 'link' && readLink(attributes)
    return reference ? [reference] : []
  })
  const hasImportMap = elements.some(
    ({ tag, attributes: { type } }) => tag === 'script' && type?.trim().toLowerCase() === 'importmap',
  )
  return { baseUrl: baseUrlOf(elements), references, hasImportMap }
}

function readScript(attributes: Attributes): PageReference | undefined {
  // A classic script, such as the `nomodule` ones for old browsers, is none of these.
  if (attributes['type']?.trim().toLowerCase() !== 'module') return undefined
  return referenceTo('module', attributes['src'], attributes, true)
}

function readLink(attributes: Attributes): PageReference | undefined {
  const relations = new Set((attributes['rel'] ?? '').toLowerCase().split(/\s+/))
  const href = attributes['href']
  if (relations.has('modulepreload')) return referenceTo('module', href, attributes)
  if (!isForScreens(attributes)) return undefined
  if (relations.has('stylesheet') && !relations.has('alternate'))
    return referenceTo('style', href, attributes)
  const as = relations.has('preload') ? attributes['as']?.toLowerCase() : undefined
  return as === 'style' || as === 'font' ? referenceTo(as, href, attributes) : undefined
}

/** A stylesheet for paper is fetched last, one that is switched off not at all. */
function isForScreens({ media = '', disabled }: Attributes): boolean {
  return disabled === undefined && ['', 'all', 'screen'].includes(media.trim().toLowerCase())
}

function referenceTo(
  kind: PageReference['kind'],
  url: string | undefined,
  { crossorigin, integrity }: Attributes,
  isScript = false,
): PageReference | undefined {
  if (url === undefined || url.trim() === '') return undefined
  const isParticular = integrity !== undefined || crossorigin?.toLowerCase() === 'use-credentials'
  return { kind, isScript, url, crossorigin: crossorigin !== undefined, isParticular }
}
