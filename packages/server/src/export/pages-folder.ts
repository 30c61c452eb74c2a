import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import { headersFile } from './headers-file.ts'
import type { PageHost } from './page-host.ts'
import { type ExportPlan, decodeUrlPath } from './plan-export.ts'
import { missingPage, redirectsFile } from './redirects-file.ts'

/** What is uploaded to a host that knows `_headers` and `_redirects`: it compresses by itself. */
export interface PagesFolder {
  /** Its name. */
  readonly host: string
  readonly folder: string
  /** Places of files of the site that go into it. */
  readonly places: readonly string[]
  readonly texts: ReadonlyMap<string, string>
  readonly left: readonly string[]
}

/** Decides what such a folder has. */
export function pagesFolder(plan: ExportPlan, host: PageHost): PagesFolder {
  const { files, site, unknown } = plan
  const { limits, folder } = host
  const headers = headersFile(plan, host)
  const redirects = redirectsFile(plan, host)
  const large = files
    .filter(({ resource }) => resource.identity.bytes.size > limits.fileSize)
    .map(({ place }) => place)
  const places = files.map(({ place }) => place)
  const texts = new Map([
    ['_headers', headers.text],
    ['_redirects', redirects.text],
  ])
  const add = (place: string): void => {
    if (!places.includes(place)) texts.set(place, '<!doctype html><title>404</title>404 Not Found\n')
  }
  // The nearest one above a path is its 404; a site that has none is taken for a single page.
  if (site.assetsPath !== undefined && unknown?.status === 200)
    add(decodeUrlPath(site.assetsPath) + missingPage)
  if (unknown === undefined) add(missingPage)
  return {
    host: host.name,
    folder,
    places,
    texts,
    left: [
      ...headers.left,
      ...redirects.left,
      ...(large.length === 0
        ? []
        : [`files above ${limits.fileSize} bytes are refused: ${joinFirstNames(large)}`]),
      ...(files.length > limits.files
        ? [`${files.length} files are more than the ${limits.files} that are allowed`]
        : []),
    ],
  }
}
