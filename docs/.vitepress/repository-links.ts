import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { MarkdownRenderer } from 'vitepress'
import { repository } from './repository.ts'

const documents = fileURLToPath(new URL('..', import.meta.url))
const root = path.join(documents, '..')

/**
 * Points links that leave the documents to GitHub: links to folders, and to files outside of docs/. The Markdown files have
 * relative links.
 *
 * @throws If the repository has no such file.
 */
export function repositoryLinks(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('repository-links', ({ tokens, env }) => {
    for (const { children } of tokens) {
      for (const token of children ?? []) {
        const href = token.type === 'link_open' ? token.attrGet('href') : null
        const target = href === null ? undefined : siteUrl(href, String(env.path))
        if (target !== undefined) token.attrSet('href', target)
      }
    }
  })
}

function siteUrl(href: string, page: string): string | undefined {
  const [, target = '', fragment = ''] = /^([^#?]*)(#.*)?$/.exec(href) ?? []
  if (target === '' || /^(?:[a-z]+:|\/)/.test(target)) return undefined
  const file = path.resolve(path.dirname(page), decodeURI(target))
  const isPage = file.startsWith(documents) && file.endsWith('.md')
  // GitHub shows README.md for a folder. The site has it as the index of the folder.
  if (isPage) return target.endsWith('README.md') ? href.replace('README.md', 'index.md') : undefined
  if (!existsSync(file)) throw new Error(`${page}: the link ${href} leads to no file of the repository`)
  const kind = statSync(file).isDirectory() ? 'tree' : 'blob'
  return `${repository}/${kind}/main/${path.relative(root, file).replaceAll('\\', '/')}${fragment}`
}
