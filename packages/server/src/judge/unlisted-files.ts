import { documentUrl } from '@serve-dist/foundation/text/document-url'
import { pluralize } from '@serve-dist/foundation/text/pluralize'
import {
  compressCommand,
  isPageType,
  mediaTypeOf,
  type Manifest,
  OperatorError,
  servingFiles,
} from '@serve-dist/manifest'
import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'

/** A folder with files that its manifest does not list. */
export interface UnlistedFiles {
  /** The folder as the operator named it. */
  readonly directory: string
  readonly root: string
  readonly manifest: Manifest
  readonly unlisted: readonly string[]
}

/** Returns a warning about files that will not be served, or `undefined` if all files are listed. */
export function describeUnlistedFiles({ directory, root, unlisted }: UnlistedFiles): string | undefined {
  if (unlisted.length === 0) return undefined
  const rules = unlisted.filter((path) => servingFiles.has(path))
  const files = unlisted.filter((path) => !servingFiles.has(path))
  const what = pluralize(files.length, 'file is', 'files are')
  const lost = [
    ...(rules.length > 0
      ? [
          `the manifest does not list ${rules.join(' and ')}, so ${rules.length === 1 ? 'its' : 'their'} rules do not apply.`,
        ]
      : []),
    ...(files.length > 0
      ? [`${what} not in the manifest and will not be served: ${joinFirstNames(mostImportant(files))}.`]
      : []),
  ]
  return `${root}: ${lost.join(' ')} Run: ${compressCommand(directory)} (--exclude omits files)`
}

/**
 * Refuses a build whose folder contains pages although the manifest lists none, or lacks the home page. A build without
 * any pages starts, because it may be a library or the client of a server that renders.
 *
 * @throws OperatorError
 */
export function refuseUnlistedPages({ directory, root, manifest, unlisted }: UnlistedFiles): void {
  const pages = unlisted.filter(isPage)
  const [first] = pages
  if (first === undefined) return
  // Some frameworks write their pages into a subfolder with the name of the base.
  const index = pages.find((path) => path === 'index.html' || `/${path}` === `${manifest.base}index.html`)
  if (index === undefined && manifest.files.some(({ path }) => isPage(path))) return
  const lost =
    index === undefined
      ? 'the manifest lists no page, but the folder contains pages'
      : `the manifest does not list ${index}, which the folder contains`
  throw new OperatorError('SD_PAGES_UNLISTED', [
    `${root}: ${lost}. A program wrote files after the compression, and the server would not serve them.`,
    `  ${pluralize(unlisted.length, 'file is', 'files are')} not listed: ${joinFirstNames(mostImportant(unlisted))}`,
    `  Run: ${compressCommand(directory)}`,
    `  Make this the last step of each build. The step for each framework: ${documentUrl('frameworks')}`,
    '  To start without these files, pass --force.',
  ])
}

/** Sorts pages first, then files that configure the server, so that the list shows them before many images. */
function mostImportant(paths: readonly string[]): string[] {
  return paths.toSorted((a, b) => rankOf(a) - rankOf(b))
}

function rankOf(path: string): number {
  return isPage(path) ? 0 : servingFiles.has(path) ? 1 : 2
}

function isPage(path: string): boolean {
  return isPageType(mediaTypeOf(path))
}
