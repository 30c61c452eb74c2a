import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FilesOfPage } from '@serve-dist/precompress'
import { decide } from '../site/decide.ts'
import { isMissingAsset } from '../site/missing-asset.ts'
import { pageUrls } from '../site/page-urls.ts'
import { noRequestFields } from '../protocol/request-fields.ts'
import { encodePath } from '../protocol/request-path.ts'
import type { Site } from '../site/site.ts'

/** A file that a page names although the site would answer 404 for it. */
export interface AbsentFile {
  /** The path of the page in the folder. */
  readonly page: string
  /** The URL in the page. */
  readonly url: string
  readonly isNeeded: boolean
}

/** A stand-in for the host of the site. URLs with another host are not part of the build. */
const origin = 'http://page.invalid'

export interface FindAbsentOptions {
  /** Returns the files that a page names, by the text of the page. */
  readonly filesOfPage: (text: string) => Promise<FilesOfPage>
  /** Whether an application answers unknown paths outside the assets folder. */
  readonly hasApplication: boolean
}

/** Finds files that pages name and the site lacks. It uses the server's own decision for each path. */
export async function findAbsentFiles(
  site: Site,
  { filesOfPage, hasApplication }: FindAbsentOptions,
): Promise<AbsentFile[]> {
  const absent: AbsentFile[] = []
  for (const { path, isPage } of site.files.values()) {
    if (!isPage) continue
    const { baseUrl, files } = await filesOfPage(await readFile(join(site.directory, path), 'utf8'))
    const location = new URL(site.base + encodePath(pageUrls(path).at(-1) ?? path), origin)
    const base = URL.canParse(baseUrl ?? '', location.href) ? new URL(baseUrl ?? '', location) : location
    const names = new Map(files.map(({ url, isNeeded }) => [url, isNeeded]))
    for (const [url, isNeeded] of names) {
      if (!URL.canParse(url, base.href)) continue
      const named = new URL(url, base)
      if (hasApplication && !isMissingAsset(site, named.pathname)) continue
      if (!isServed(site, named)) absent.push({ page: path, url, isNeeded })
    }
  }
  return absent
}

/** Paths outside the base count as served, because another program may serve them. */
function isServed(site: Site, { origin: host, pathname, search }: URL): boolean {
  if (host !== origin || !pathname.startsWith(site.base)) return true
  const asked = { ...noRequestFields, target: pathname + search }
  const answer = decide(site, asked, 'none')
  return answer !== undefined && answer.status < 400
}
