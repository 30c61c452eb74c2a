import { hash } from 'node:crypto'
import type { PagePolicy } from '@serve-dist/manifest'
import type { PageElement } from '../links/elements-of-page.ts'
import { documentsOfPage } from './documents-of-page.ts'
import { isScript } from './is-script.ts'

type Kind = keyof PagePolicy

/** An inline item of an element, with the text that a browser hashes. */
type Inline = readonly [kind: Kind, text: string]

/**
 * Returns the hashes that a page needs in its policy: scripts, styles, `style` attributes and event handlers. Includes
 * documents of `srcdoc`, because the same policy applies. `undefined` for a page without inline items.
 */
export function policyOfElements(elements: readonly PageElement[]): PagePolicy | undefined {
  const found: Record<Kind, Set<string>> = {
    scripts: new Set(),
    styles: new Set(),
    styleAttributes: new Set(),
    scriptAttributes: new Set(),
  }
  for (const document of documentsOfPage(elements)) {
    for (const [kind, text] of document.elements.flatMap(inlineOf)) {
      if (document.scripting || !kind.startsWith('script')) found[kind].add(text)
    }
  }
  const policy = Object.entries(found)
    .filter(([, texts]) => texts.size > 0)
    .map(([kind, texts]) => [kind, Array.from(texts, hashOf).toSorted()])
  return policy.length === 0 ? undefined : Object.fromEntries(policy)
}

/** Returns the items of an element that a policy without hashes blocks. */
export function inlineOf({ tag, kind, attributes, text = '' }: PageElement): Inline[] {
  const inline: Inline[] = []
  if (tag === 'script' && isScript(kind, attributes, text)) inline.push(['scripts', text])
  // Chromium checks the policy for any type, and for an empty style.
  if (tag === 'style' && kind !== 'other') inline.push(['styles', text])
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'style') inline.push(['styleAttributes', value])
    // Shorter names are words, such as `once`. A name that is not an event only costs a hash.
    else if (/^on[a-z]{3,}$/.test(name)) inline.push(['scriptAttributes', value])
  }
  return inline
}

function hashOf(text: string): string {
  return `sha256-${hash('sha256', text, 'base64')}`
}
