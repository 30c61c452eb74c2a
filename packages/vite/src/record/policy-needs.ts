import { createHash } from 'node:crypto'
import { relative, sep } from 'node:path'
import type { PolicyNeed } from '@serve-dist/precompress'
import { isForeign } from '../environment/environment-url.ts'

/** Facts about a build's code that affect its `Content-Security-Policy`. */
export interface PolicyFacts {
  /** Modules that start inline workers. */
  readonly inlineWorkers: readonly string[]
  /** Styles that `announcerStyle` found. */
  readonly announcers: readonly string[]
}

/** Returns whether a module is Vite's wrapper of a worker that becomes a `blob:` URL. */
export function isInlineWorker(moduleId: string): boolean {
  return /[?&]worker(?:&|$)/.test(moduleId) && /[?&]inline\b/.test(moduleId)
}

/**
 * Returns the style of the element in which SvelteKit announces navigations. A script creates the element, so no page
 * contains the style.
 */
export function announcerStyle(code: string): string | undefined {
  return /\bid="svelte-announcer"[^>]* style="([^"]*)"/.exec(code)?.[1]
}

/** Returns the sources that a `Content-Security-Policy` needs for these facts, and for files on another origin. */
export function policyNeeds(
  { base, root }: { readonly base: string; readonly root: string },
  { inlineWorkers, announcers }: PolicyFacts,
): PolicyNeed[] {
  const workers = [...new Set(inlineWorkers)].toSorted()
  return [
    ...workers.flatMap((id) => {
      const reason = `the inline worker ${relative(root, id).split(sep).join('/')}`
      return ["'self'", 'blob:'].map((source) => ({ directive: 'worker-src', source, reason }))
    }),
    ...[...new Set(announcers)].flatMap((style) => {
      const hash = createHash('sha256').update(style).digest('base64')
      const reason = "SvelteKit's announcer of pages"
      return ["'unsafe-hashes'", `'sha256-${hash}'`].map((source) => ({
        directive: 'style-src-attr',
        source,
        reason,
      }))
    }),
    ...originNeeds(base),
  ]
}

/**
 * Directives for files with the base in their URL. `worker-src` is missing, because browsers cannot start workers from
 * another origin.
 */
const ofFiles = ['connect-src', 'font-src', 'img-src', 'manifest-src', 'media-src', 'script-src', 'style-src']

function originNeeds(base: string): PolicyNeed[] {
  if (!isForeign(base)) return []
  const { origin } = new URL(base, 'https://localhost')
  const source = base.startsWith('//') ? origin.slice('https://'.length) : origin
  const reason = `Vite's base is ${base}`
  // Add 'self', because a directive replaces `default-src`.
  return ofFiles.flatMap((directive) =>
    ["'self'", source].map((text) => ({ directive, source: text, reason })),
  )
}
