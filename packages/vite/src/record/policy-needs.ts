import { createHash } from 'node:crypto'
import { relative, sep } from 'node:path'
import type { PolicyNeed } from '@serve-dist/precompress'
import { isForeign } from '../environment/environment-url.ts'

/** What of a build's code a `Content-Security-Policy` depends on. */
export interface PolicyFacts {
  /** The modules that start inline workers. */
  readonly inlineWorkers: readonly string[]
  /** The styles that `announcerStyle` found. */
  readonly announcers: readonly string[]
}

/** Whether a module is Vite's wrapper of a worker that becomes a `blob:` URL. */
export function isInlineWorker(moduleId: string): boolean {
  return /[?&]worker(?:&|$)/.test(moduleId) && /[?&]inline\b/.test(moduleId)
}

/** The style of the element in which SvelteKit says where a click has led: its script writes it, so no page has it. */
export function announcerStyle(code: string): string | undefined {
  return /\bid="svelte-announcer"[^>]* style="([^"]*)"/.exec(code)?.[1]
}

/** What a `Content-Security-Policy` must name for these, and for files that lie on another origin. */
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

/** The directives that rule over files which a build names by its base; a browser starts no worker of another origin. */
const ofFiles = ['connect-src', 'font-src', 'img-src', 'manifest-src', 'media-src', 'script-src', 'style-src']

function originNeeds(base: string): PolicyNeed[] {
  if (!isForeign(base)) return []
  const { origin } = new URL(base, 'https://localhost')
  const source = base.startsWith('//') ? origin.slice('https://'.length) : origin
  const reason = `Vite's base is ${base}`
  // A directive that is there no longer takes over what `default-src` says.
  return ofFiles.flatMap((directive) =>
    ["'self'", source].map((text) => ({ directive, source: text, reason })),
  )
}
