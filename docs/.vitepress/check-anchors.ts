import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

interface Page {
  readonly ids: ReadonlySet<string>
  readonly links: readonly URL[]
}

/**
 * Checks that each link of a built page to an anchor of the site leads to an element with this id. VitePress checks that
 * the pages exist.
 *
 * @throws An error that lists the dead links.
 */
export async function checkAnchors(folder: string, base: string): Promise<void> {
  const site = new URL(base, 'https://site.invalid')
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.html'))
  const pages = new Map(
    await Promise.all(
      names.map(async (name): Promise<[string, Page]> => {
        const address = new URL(name.replaceAll('\\', '/').replace(/(?:(^|\/)index)?\.html$/, '$1'), site)
        return [address.pathname, readPage(await readFile(path.join(folder, name), 'utf8'), address)]
      }),
    ),
  )
  const dead = [...pages].flatMap(([address, { links }]) =>
    links
      .filter(
        ({ pathname, hash }) => pages.get(pathname)?.ids.has(decodeURIComponent(hash.slice(1))) === false,
      )
      .map(({ pathname, hash }) => `${address} links to ${pathname}${hash}`),
  )
  if (dead.length > 0)
    throw new Error(`Links to anchors that do not exist:\n${[...new Set(dead)].join('\n')}`)
}

function readPage(html: string, address: URL): Page {
  const links = valuesOf('href', html).filter((href) => href.includes('#'))
  return {
    ids: new Set(valuesOf('id', html)),
    links: links.map((href) => new URL(href, address)).filter(({ host }) => host === address.host),
  }
}

/** The values of an attribute in HTML that VitePress wrote: it quotes all values and escapes `"` and `&`. */
function valuesOf(attribute: string, html: string): string[] {
  const pattern = new RegExp(`<[^<>]* ${attribute}="([^"]*)"`, 'g')
  return Array.from(html.matchAll(pattern), ([, value = '']) => value.replaceAll('&amp;', '&'))
}
