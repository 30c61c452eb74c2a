import type { PageElement } from './elements-of-page.ts'

/** A file that a page names and a browser fetches with it. */
export interface NamedFile {
  /** As it stands in the page. */
  readonly url: string
  /** Whether the page does not work, or looks other, without it: scripts and styles. */
  readonly isNeeded: boolean
}

/** The files that a page names, and what its URLs are relative to. */
export interface FilesOfPage {
  /** The `href` of its `<base>`. */
  readonly baseUrl: string | undefined
  readonly files: readonly NamedFile[]
}

/** Attributes that name a file, by the element. Those of `a`, `form` and `iframe` name places to go to. */
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

/** Reads which files a browser fetches with a page; what stands in `<template>` and `<noscript>` is none of them. */
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

/** The URLs of a `srcset`: each ends at a space, or at a comma in front of one (HTML §2.5.3). */
export function parseSrcset(srcset: string): string[] {
  return [...srcset.matchAll(/(?:^|,)\s*([^\s,](?:\S*[^\s,])?)/g)].map(([, url = '']) => url)
}
