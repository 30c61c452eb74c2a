import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { documentUrl } from './document-url.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const pages = ['', 'migrate/'].flatMap((folder) =>
  readdirSync(`${root}docs/${folder}`)
    .filter((name) => name.endsWith('.md'))
    .map((name) => folder + name),
)
const published = ['engine', 'manifest', 'precompress', 'report', 'server', 'store', 'vite']

const read = (path: string): string => readFileSync(root + path, 'utf8')

/** Returns the anchors that GitHub and the documentation site give the headings of a document. */
function anchorsOf(page: string): string[] {
  const headings = read(`docs/${page}`).matchAll(/^#+ (.+)$/gm)
  return Array.from(headings, ([, text = '']) => {
    const words = text.toLowerCase().replaceAll(/[^\p{L}\d _-]/gu, '')
    return `#${words.replaceAll(' ', '-')}`
  })
}

describe('documentUrl', () => {
  test.each(published)('is below the homepage of packages/%s', (name) => {
    const { homepage, repository } = JSON.parse(read(`packages/${name}/package.json`))
    expect(documentUrl('errors')).toBe(`${homepage}errors`)
    expect(repository.directory).toBe(`packages/${name}`)
  })

  test.each(published)('leads from the messages of packages/%s to documents that exist', (name) => {
    const files = readdirSync(`${root}packages/${name}/src`, { recursive: true, encoding: 'utf8' })
    const sources = files.filter((path) => path.endsWith('.ts')).map((path) => `packages/${name}/src/${path}`)
    const named = sources.flatMap((path) =>
      Array.from(read(path).matchAll(/documentUrl\('([^']+)'\)/g), ([, page]) => `${page}.md`),
    )
    expect(named.filter((page) => !pages.includes(page))).toEqual([])
  })

  test.each(published)('is how the README of packages/%s links to documents that exist', (name) => {
    const readme = read(`packages/${name}/README.md`)
    expect(readme).not.toMatch(/\]\((?!https:|#)/)
    const links = readme.matchAll(/\]\((https:[^)#]*)(#[^)]*)?\)/g)
    const ofSite = Array.from(links, ([, url = '', anchor]) => ({ url, anchor })).filter(({ url }) =>
      url.startsWith(documentUrl('')),
    )
    const wrong = ofSite.filter(({ url, anchor }) => {
      if (url === documentUrl('')) return false
      const page = pages.find((file) => documentUrl(file.replace('.md', '')) === url)
      return page === undefined || (anchor !== undefined && !anchorsOf(page).includes(anchor))
    })
    expect(wrong).toEqual([])
  })
})
