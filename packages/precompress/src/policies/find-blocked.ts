import { baseUrlOf, type PageElement } from '../links/elements-of-page.ts'
import { parseSrcset } from '../links/files-of-page.ts'
import { documentsOfPage } from './documents-of-page.ts'
import { inlineOf } from './policy-of-elements.ts'
import { parseUrl } from '../links/parse-url.ts'
import { isAllowed, ownOrigin } from './is-allowed.ts'

/** An item of a page that its policy blocks. */
export interface Blocked {
  /** For example `https://cdn.example.org`, `onclick` or `javascript:`. */
  readonly what: string
  /** The directive that blocks it. */
  readonly directive: string
  /** The source that would allow the item. Absent if no source can. */
  readonly source?: string
  /** Line number from 1. */
  readonly line: number
}

/** Directives for a kind of fetch. The first one that a policy has applies (CSP Level 3 §6.8.4). */
const asked: Readonly<Record<string, readonly string[]>> = {
  script: ['script-src-elem', 'script-src', 'default-src'],
  style: ['style-src-elem', 'style-src', 'default-src'],
  image: ['img-src', 'default-src'],
  font: ['font-src', 'default-src'],
  media: ['media-src', 'default-src'],
  manifest: ['manifest-src', 'default-src'],
  frame: ['frame-src', 'child-src', 'default-src'],
  object: ['object-src', 'default-src'],
  form: ['form-action'],
  base: ['base-uri'],
  fetch: ['connect-src', 'default-src'],
  handler: ['script-src-attr', 'script-src', 'default-src'],
}

/** The kind of fetch for each attribute, by element. */
const fetches: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  script: { src: 'script' },
  img: { src: 'image', srcset: 'image' },
  input: { src: 'image', formaction: 'form' },
  button: { formaction: 'form' },
  video: { src: 'media', poster: 'image' },
  audio: { src: 'media' },
  source: { src: 'media', srcset: 'image' },
  track: { src: 'media' },
  iframe: { src: 'frame' },
  frame: { src: 'frame' },
  form: { action: 'form' },
  base: { href: 'base' },
  object: { data: 'object' },
  embed: { src: 'object' },
}
const ofSvg: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  script: { href: 'script' },
  image: { href: 'image' },
  feimage: { href: 'image' },
}
const ofLinks: readonly (readonly [relation: string, kind: string])[] = [
  ['stylesheet', 'style'],
  ['modulepreload', 'script'],
  ['icon', 'image'],
  ['apple-touch-icon', 'image'],
  ['manifest', 'manifest'],
]

const preloads = ['script', 'style', 'image', 'font', 'fetch']

/**
 * Returns the items of a page that a policy blocks: files and frames of other origins, targets of forms, `javascript:`
 * URLs, event handlers. Does not examine scripts.
 */
export function findBlocked(elements: readonly PageElement[], policy: string): Blocked[] {
  const directives = parsePolicy(policy)
  const page = baseOf(elements, ownOrigin)
  return documentsOfPage(elements).flatMap((document) => {
    const context = { directives, base: baseOf(document.elements, page), scripting: document.scripting }
    return document.elements.flatMap((element) => [
      ...blockedFetches(element, context),
      ...blockedHandlers(element, context),
    ])
  })
}

interface Context {
  readonly directives: ReadonlyMap<string, readonly string[]>
  readonly base: string
  readonly scripting: boolean
}

function blockedFetches(element: PageElement, { directives, base, scripting }: Context): Blocked[] {
  return fetchesOf(element).flatMap(([kind, text]): Blocked[] => {
    const url = parseUrl(text, kind === 'base' ? ownOrigin : base)
    if (url === undefined || url.protocol === 'about:') return []
    const isScript = url.protocol === 'javascript:'
    if (!scripting && (isScript || kind === 'script')) return []
    const directive = directiveFor(isScript ? 'script' : kind, directives)
    const sources = directives.get(directive)
    if (sources === undefined || isAllowed(url, sources)) return []
    if (isScript && sources.includes("'unsafe-inline'")) return []
    const line = element.line ?? 0
    if (isScript) return [{ what: url.protocol, directive, line }]
    if (url.origin === ownOrigin) return [{ what: text, directive, source: "'self'", line }]
    const source = url.origin === 'null' ? url.protocol : url.origin
    return [{ what: source, directive, source, line }]
  })
}

function blockedHandlers(
  { tag, kind, attributes, line = 0 }: PageElement,
  { directives, scripting }: Context,
): Blocked[] {
  const directive = directiveFor('handler', directives)
  const sources = directives.get(directive) ?? []
  if (!scripting || ["'unsafe-inline'", "'unsafe-hashes'"].some((source) => sources.includes(source)))
    return []
  return Object.keys(attributes)
    .filter((name) =>
      inlineOf({ tag, kind, attributes: { [name]: '' } }).some(([found]) => found === 'scriptAttributes'),
    )
    .map((what) => ({ what, directive, line }))
}

function directiveFor(kind: string, directives: Context['directives']): string {
  return asked[kind]?.find((name) => directives.has(name)) ?? ''
}

/** Returns the base URL. A frame without a `<base>` inherits it from its page. */
function baseOf(elements: readonly PageElement[], otherwise: string): string {
  return parseUrl(baseUrlOf(elements) ?? otherwise, ownOrigin)?.href ?? otherwise
}

function fetchesOf(element: PageElement): [kind: string, url: string][] {
  const { style } = element.attributes
  if (element.kind === 'other') return []
  return [...namedBy(element), ...(style === undefined ? [] : fetchesOfStyle(style))]
}

function namedBy({ tag, kind, attributes, text = '' }: PageElement): [kind: string, url: string][] {
  if (tag === 'style') return fetchesOfStyle(text)
  if (kind === 'html' && tag === 'link') {
    const { rel = '', as = '', href } = attributes
    const relations = rel.toLowerCase().split(/\s+/)
    const preloaded = preloads.find((name) => relations.includes('preload') && name === as.toLowerCase())
    const found = ofLinks.find(([relation]) => relations.includes(relation))?.[1] ?? preloaded
    return href === undefined || found === undefined ? [] : [[found, href]]
  }
  if (tag === 'script' && attributes['type']?.trim().toLowerCase() === 'importmap')
    return fetchesOfImportMap(text)
  if (tag === 'a' || tag === 'area') {
    const { href = '' } = attributes
    return isScriptUrl(href) ? [['frame', href]] : []
  }
  // With `srcdoc`, the browser ignores `src`.
  if (tag === 'iframe' && attributes['srcdoc'] !== undefined) return []
  const named = Object.entries((kind === 'html' ? fetches : ofSvg)[tag.toLowerCase()] ?? {})
  return named.flatMap(([name, found]) => {
    const value = attributes[name]
    if (value === undefined || (value.trim() === '' && name !== 'href')) return []
    const urls = name === 'srcset' ? parseSrcset(value) : [value]
    return urls.filter((url) => url !== '').map((url): [string, string] => [found, url])
  })
}

/** Returns the modules of an import map. */
function fetchesOfImportMap(text: string): [kind: string, url: string][] {
  const found: [string, string][] = []
  try {
    JSON.parse(text, (_name, value: unknown) => {
      if (typeof value === 'string') found.push(['script', value])
      return value
    })
  } catch {
    // A browser ignores an invalid map.
    return []
  }
  return found
}

/** Returns the stylesheets, fonts and images of an inline style. */
function fetchesOfStyle(text: string): [kind: string, url: string][] {
  const imports = [...text.matchAll(/@import\s+(?:url\(\s*)?["']?([^"')\s;]+)/gi)]
  const rest = text.replaceAll(/@import[^;]*;?/gi, '')
  const blocks = rest.split(/(?=@font-face)/i)
  return [
    ...imports.map(([, url = '']): [string, string] => ['style', url]),
    ...blocks.flatMap((block) => {
      const end = /^@font-face/i.test(block) ? block.indexOf('}') : 0
      return [...block.matchAll(/url\(\s*["']?([^"')\s]+)/gi)].map((match): [string, string] => [
        match.index < end ? 'font' : 'image',
        match[1] ?? '',
      ])
    }),
  ]
}

function isScriptUrl(url: string): boolean {
  return parseUrl(url, ownOrigin)?.protocol === 'javascript:'
}

function parsePolicy(policy: string): Map<string, readonly string[]> {
  return new Map(
    policy.split('; ').map((directive) => {
      const [name = '', ...sources] = directive.split(' ')
      return [name, sources]
    }),
  )
}
