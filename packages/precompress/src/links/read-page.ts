import { baseUrlOf, type PageElement } from './elements-of-page.ts'

/** A file that a page asks a browser to fetch immediately. */
export interface PageReference {
  readonly kind: 'module' | 'style' | 'font'
  /** Whether the browser runs the file, not only preloads it. */
  readonly isScript: boolean
  /** The URL as the page contains it. */
  readonly url: string
  /** Whether the browser uses CORS mode. A hint in another mode makes the browser fetch the file twice. */
  readonly crossorigin: boolean
  /** Whether a `Link` field cannot express the request, because of credentials or integrity. */
  readonly isParticular: boolean
}

/** The references of a page and the base of its URLs. */
export interface PageContent {
  /** The `href` of its `<base>`. */
  readonly baseUrl: string | undefined
  readonly references: readonly PageReference[]
  /** Whether the page has an import map. Older browsers ignore a map after the first module. */
  readonly hasImportMap: boolean
}

type Attributes = PageElement['attributes']

/** Returns the module scripts, stylesheets and preloads of a page, in order. */
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
  // Ignore classic scripts, such as `nomodule` scripts for old browsers.
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

/** Returns whether the browser fetches a stylesheet with high priority, so not for print or disabled ones. */
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
