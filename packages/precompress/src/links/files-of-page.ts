import type { PageElement } from './elements-of-page.ts'

/** A file that a browser fetches for a page. */
export interface NamedFile {
  /** The URL as the page contains it. */
  readonly url: string
  /** Whether the page needs the file to work or to look right, such as scripts and styles. */
  readonly isNeeded: boolean
}

/** The files of a page and the base of its URLs. */
export interface FilesOfPage {
  /** The `href` of its `<base>`. */
  readonly baseUrl: string | undefined
  readonly files: readonly NamedFile[]
}

/** Attributes that name a file, by element. `a`, `form` and `iframe` are missing, because they name documents. */
const named: Readonly<Record<string, readonly string[]>> = {
  script: ['src'],
  img: ['src', 'srcset'],
  source: ['src', 'srcset'],
  video: ['src', 'poster'],
  audio: ['src'],
  track: ['src'],
  embed: ['src'],
  object: ['data'],
}

const neededRelations: ReadonlySet<string> = new Set(['stylesheet', 'modulepreload'])
const otherRelations: ReadonlySet<string> = new Set([
  'preload',
  'icon',
  'apple-touch-icon',
  'manifest',
  'mask-icon',
])

/** Returns the files that a browser fetches for a page. Ignores the content of `<template>` and `<noscript>`. */
export async function filesOfPage(text: string): Promise<FilesOfPage> {
  const { baseUrlOf, elementsOfPage } = await import('./elements-of-page.ts')
  const elements = elementsOfPage(text)
  const files = elements.flatMap(filesOfElement).filter(({ url }) => url.trim() !== '')
  return { baseUrl: baseUrlOf(elements), files }
}

function filesOfElement({ tag, kind, attributes }: PageElement): NamedFile[] {
  if (kind !== 'html') return []
  const { href = '', rel = '' } = attributes
  if (tag === 'link') {
    const relations = rel.toLowerCase().split(/\s+/)
    const isNeeded = relations.some((relation) => neededRelations.has(relation))
    return isNeeded || relations.some((relation) => otherRelations.has(relation))
      ? [{ url: href, isNeeded }]
      : []
  }
  const isNeeded = tag === 'script'
  const names = Object.hasOwn(named, tag) ? (named[tag] ?? []) : []
  return names.flatMap((name) => {
    const value = attributes[name] ?? ''
    return (name === 'srcset' ? parseSrcset(value) : [value]).map((url) => ({ url, isNeeded }))
  })
}

/** Returns the URLs of a `srcset`. Each ends at a space, or at a comma before a space (HTML §2.5.3). */
export function parseSrcset(srcset: string): string[] {
  return [...srcset.matchAll(/(?:^|,)\s*([^\s,](?:\S*[^\s,])?)/g)].map(([, url = '']) => url)
}
