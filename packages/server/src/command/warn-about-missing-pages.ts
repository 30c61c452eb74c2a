import type { GivenFlags } from './flags.ts'
import type { SiteSummary } from '../site/site.ts'

/** A build of which no path is a page starts, for it may be a library; its operator must know. */
export async function warnAboutMissingPages(
  directory: string,
  { store }: Pick<GivenFlags, 'store'>,
  { pages, isNotFoundOnly }: SiteSummary,
): Promise<void> {
  if (pages > 0 && !isNotFoundOnly) return
  const { renderingCommand } = await import('../judge/framework-output.ts')
  const command = store === undefined ? renderingCommand(directory) : undefined
  const module = `if a server renders ${pages === 0 ? 'its' : 'the'} pages, name its module: ${command ?? '--ssr <module>'}`
  const shell =
    "if it is the page of a single-page application, let the build write 200.html in its place (SvelteKit: fallback: '200.html')"
  const problem =
    pages === 0
      ? `the build has no page; ${module}`
      : `the only page is 404.html, so every path is a 404 but those of files: ${shell}; ${module}`
  process.stderr.write(`serve-dist: warning: ${problem}\n`)
}
