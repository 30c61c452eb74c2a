import type { GivenFlags } from './flags.ts'
import type { SiteSummary } from '../site/site.ts'

/** Warns about a build without pages. It may be a library, so the server starts. */
export async function warnAboutMissingPages(
  directory: string,
  { store }: Pick<GivenFlags, 'store'>,
  { pages, isNotFoundOnly }: SiteSummary,
): Promise<void> {
  if (pages > 0 && !isNotFoundOnly) return
  const { renderingCommand } = await import('../judge/framework-output.ts')
  const command = store === undefined ? renderingCommand(directory) : undefined
  const module = `If a server renders ${pages === 0 ? 'its' : 'the'} pages, name its module: ${command ?? '--ssr <module>'}`
  const shell =
    "If it is the page of a single-page application, let the build write 200.html instead (SvelteKit: fallback: '200.html')."
  const problem =
    pages === 0
      ? `the build has no page. ${module}`
      : `the only page is 404.html, so all other unknown paths get status 404. ${shell} ${module}`
  process.stderr.write(`serve-dist: warning: ${problem}\n`)
}
