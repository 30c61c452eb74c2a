import { Parser } from 'htmlparser2'

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
}

type Attributes = Readonly<Record<string, string>>

/** What stands in these is no part of the page, or not for the browsers that hints are for. */
const inert: ReadonlySet<string> = new Set(['noscript', 'template'])

/** Reads the module scripts, stylesheets and preloads that the text of a page names, in their order. */
export function readPage(html: string): PageContent {
  const references: PageReference[] = []
  let baseUrl: string | undefined
  let inertDepth = 0
  const parser = new Parser({
    onopentag(name, attributes) {
      if (inert.has(name)) inertDepth += 1
      if (inertDepth > 0) return
      if (name === 'base') baseUrl ??= attributes['href']
      const reference = name === 'script' ? readScript(attributes) : name === 'link' && readLink(attributes)
      if (reference) references.push(reference)
    },
    onclosetag(name) {
      if (inert.has(name)) inertDepth -= 1
    },
  })
  parser.end(html)
  return { baseUrl, references }
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
