import { relative, sep } from 'node:path'
import type { PolicyNeed } from '@serve-dist/precompress'
import { isForeign } from '../environment/environment-url.ts'

/** Whether a module is Vite's wrapper of a worker that becomes a `blob:` URL. */
export function isInlineWorker(moduleId: string): boolean {
  return /[?&]worker(?:&|$)/.test(moduleId) && /[?&]inline\b/.test(moduleId)
}

/** What a `Content-Security-Policy` must name for these inline workers, and for files that lie on another origin. */
export function policyNeeds(
  { base, root }: { readonly base: string; readonly root: string },
  inlineWorkers: Iterable<string>,
): PolicyNeed[] {
  const workers = [...new Set(inlineWorkers)].toSorted()
  return [
    ...workers.flatMap((id) => {
      const reason = `the inline worker ${relative(root, id).split(sep).join('/')}`
      return ["'self'", 'blob:'].map((source) => ({ directive: 'worker-src', source, reason }))
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
