import { defaultTitle } from './create-report.ts'

/**
 * The first line of a report in Markdown, which nobody sees: by it a bot finds its own comment to update.
 * Reports of other titles have other markers; all begin with `<!-- serve-dist report`.
 */
export function markdownMarker(title: string = defaultTitle): string {
  // Nothing in the name may end the comment.
  const name = title.replaceAll(/[^\p{L}\p{N}_./]+/gu, ' ').trim()
  return title === defaultTitle ? '<!-- serve-dist report -->' : `<!-- serve-dist report: ${name} -->`
}
