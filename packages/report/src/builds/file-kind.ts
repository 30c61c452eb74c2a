import type { ManifestFile } from '@serve-dist/manifest'

/** What a report sums files up by. */
export type FileKind = 'js' | 'css' | 'html' | 'other'

/** All kinds, in the order of every table. */
export const fileKinds: readonly FileKind[] = ['js', 'css', 'html', 'other']

/** The kind of a file, by its media type. */
export function fileKindOf({ mediaType }: Pick<ManifestFile, 'mediaType'>): FileKind {
  if (/^(?:text|application)\/javascript\b/.test(mediaType)) return 'js'
  if (/^text\/css\b/.test(mediaType)) return 'css'
  if (/^(?:text\/html|application\/xhtml\+xml)\b/.test(mediaType)) return 'html'
  return 'other'
}
