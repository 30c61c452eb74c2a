import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import { headersFile } from './headers-file.ts'
import type { PageHost } from './page-host.ts'
import { type ExportPlan, decodeUrlPath } from './plan-export.ts'
import { missingPage, redirectsFile } from './redirects-file.ts'

/** A folder for a host that supports `_headers` and `_redirects` and compresses responses itself. */
export interface PagesFolder {
  readonly host: string
  readonly folder: string
  /** The paths of the site's files in the folder. */
  readonly places: readonly string[]
  readonly texts: ReadonlyMap<string, string>
  readonly left: readonly string[]
}

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
  // The host uses the nearest 404.html above a path. Without one, it treats the site as a single-page application.
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
        : [`the host rejects files above ${limits.fileSize} bytes: ${joinFirstNames(large)}`]),
      ...(files.length > limits.files ? [`${files.length} files exceed the limit of ${limits.files}`] : []),
    ],
  }
}
