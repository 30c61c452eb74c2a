import { documentUrl } from '@serve-dist/foundation/text/document-url'
import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { compressCommand, isPageType, mediaTypeOf, type Manifest, OperatorError } from '@serve-dist/manifest'
import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import { servingFiles } from '../site/resolve-serving.ts'

/** A folder with files that its manifest does not list. */
export interface UnlistedFiles {
  /** As the operator named the folder. */
  readonly directory: string
  readonly root: string
  readonly manifest: Manifest
  readonly unlisted: readonly string[]
}

/** One line about files that nobody will get, with what mends it; `undefined` where there are none. */
export function describeUnlistedFiles({ directory, root, unlisted }: UnlistedFiles): string | undefined {
  if (unlisted.length === 0) return undefined
  const rules = unlisted.filter((path) => servingFiles.has(path))
  const files = unlisted.filter((path) => !servingFiles.has(path))
  const what = pluralize(files.length, 'file is', 'files are')
  const lost = [
    ...(rules.length > 0 ? [`the rules of ${rules.join(' and ')} do not count: not in the manifest`] : []),
    ...(files.length > 0
      ? [`${what} not in the manifest and will not be served: ${joinFirstNames(mostImportant(files))}`]
      : []),
  ]
  return `${root}: ${lost.join('; ')}; run: ${compressCommand(directory)} (--exclude leaves files out)`
}

/**
 * Refuses a build that has lost its pages: they lie in the folder, and the manifest lists none, or not the one that the
 * build begins with. A build that has no page anywhere, such as a library or the client of a server that renders, starts.
 *
 * @throws OperatorError
 */
export function refuseUnlistedPages({ directory, root, manifest, unlisted }: UnlistedFiles): void {
  const pages = unlisted.filter(isPage)
  const [first] = pages
  if (first === undefined) return
  // Some frameworks write their pages below a folder of the base's name.
  const index = pages.find((path) => path === 'index.html' || `/${path}` === `${manifest.base}index.html`)
  if (index === undefined && manifest.files.some(({ path }) => isPage(path))) return
  const lost =
    index === undefined
      ? 'the manifest lists no page, but pages lie in the folder'
      : `the manifest does not list ${index}, which lies in the folder`
  throw new OperatorError('SD_PAGES_UNLISTED', [
    `${root}: ${lost}: something wrote it after the compression, and nobody would get it`,
    `  ${pluralize(unlisted.length, 'file is', 'files are')} not listed: ${joinFirstNames(mostImportant(unlisted))}`,
    `  Run: ${compressCommand(directory)}`,
    `  and do so as the last step of each build. The step of each framework: ${documentUrl('frameworks')}`,
    '  --force starts without these files.',
  ])
}

/** Pages first, then what configures the server: nobody looks for these behind 20 images. */
function mostImportant(paths: readonly string[]): string[] {
  return paths.toSorted((a, b) => rankOf(a) - rankOf(b))
}

function rankOf(path: string): number {
  return isPage(path) ? 0 : servingFiles.has(path) ? 1 : 2
}

function isPage(path: string): boolean {
  return isPageType(mediaTypeOf(path))
}
