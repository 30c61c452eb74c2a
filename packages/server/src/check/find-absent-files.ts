import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FilesOfPage } from '@serve-dist/precompress'
import { decide } from '../site/decide.ts'
import { isMissingAsset } from '../site/missing-asset.ts'
import { pageUrls } from '../site/page-urls.ts'
import { noRequestFields } from '../protocol/request-fields.ts'
import { encodePath } from '../protocol/request-path.ts'
import type { Site } from '../site/site.ts'

/** A file that a page names, and that the site would answer with a 404. */
export interface AbsentFile {
  /** Of the folder. */
  readonly page: string
  /** As it stands in the page. */
  readonly url: string
  readonly isNeeded: boolean
}

/** Any host: what a page names on another one is not of this build. */
const origin = 'http://page.invalid'

export interface FindAbsentOptions {
  /** Reads a page's text. */
  readonly filesOfPage: (text: string) => Promise<FilesOfPage>
  /** Whether somebody answers for unknown paths, but for those of hashed assets. */
  readonly hasApplication: boolean
}

/** The files that pages name and the site does not have, by the very decision that its server would make. */
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

/** What lies outside of the base is somebody else's. */
function isServed(site: Site, { origin: host, pathname, search }: URL): boolean {
  if (host !== origin || !pathname.startsWith(site.base)) return true
  const asked = { ...noRequestFields, target: pathname + search }
  const answer = decide(site, asked, 'none')
  return answer !== undefined && answer.status < 400
}
