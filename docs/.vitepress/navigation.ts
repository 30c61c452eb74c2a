import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DefaultTheme } from 'vitepress'
import { repository } from './repository.ts'

const documents = fileURLToPath(new URL('..', import.meta.url))

export const navigation: DefaultTheme.NavItem[] = [
  { text: 'Guide', link: '/getting-started' },
  { text: 'Reference', link: '/cli' },
  { text: 'Compared', link: '/compared' },
]

export const sidebar: DefaultTheme.SidebarItem[] = [
  {
    text: 'Guide',
    items: [
      { text: 'What it is, and why', link: '/why' },
      { text: 'Compared', link: '/compared' },
      { text: 'Getting started', link: '/getting-started' },
      { text: 'Vite plugin', link: '/vite-plugin' },
      { text: 'Frameworks', link: '/frameworks' },
      { text: 'Other Vite plugins', link: '/plugins' },
      { text: 'Hosts', link: '/hosts' },
      { text: 'Server-side rendering', link: '/ssr' },
      { text: 'Environment variables', link: '/environment' },
      { text: 'Content-Security-Policy', link: '/csp' },
      { text: 'Deploys', link: '/deploys' },
      { text: 'Deltas', link: '/deltas' },
      { text: 'Deploying', link: '/deploying' },
      { text: 'Native engine', link: '/engine' },
      { text: 'Operating', link: '/operating' },
      { text: 'Security', link: '/security' },
      { text: 'Supported versions', link: '/support' },
    ],
  },
  {
    text: 'Migrate',
    items: [
      { text: 'From serve', link: '/migrate/serve' },
      { text: 'From sirv and express.static', link: '/migrate/sirv' },
      { text: 'From vite-plugin-compression', link: '/migrate/vite-plugin-compression' },
      { text: 'From nginx', link: '/migrate/nginx' },
    ],
  },
  {
    text: 'Reference',
    items: [
      { text: 'Plugin options', link: '/plugin-options' },
      { text: 'Command line', link: '/cli' },
      { text: 'Configuration', link: '/configuration' },
      { text: 'Codings', link: '/codings' },
      { text: 'Errors', link: '/errors' },
      { text: 'HTTP', link: '/http' },
      { text: 'Manifest', link: '/manifest' },
      { text: 'Report', link: '/report' },
      { text: 'Check', link: '/check' },
      { text: 'Explain', link: '/explain' },
      { text: 'Proxy', link: '/proxy' },
      { text: 'Export', link: '/export' },
    ],
  },
  {
    text: 'Contribute',
    items: [
      { text: 'Contributing', link: `${repository}/blob/main/CONTRIBUTING.md` },
      { text: 'Architecture', link: '/architecture' },
      { text: 'Benchmarks', link: '/benchmarks/', items: pagesOf('benchmarks') },
      { text: 'Decisions', collapsed: true, items: pagesOf('decisions') },
    ],
  },
]

const listed = new Set(linksOf(sidebar))
const unlisted = [...pagesOf('.'), ...pagesOf('migrate')]
  .map(({ link }) => path.posix.normalize(link))
  .filter((link) => !listed.has(link))
if (unlisted.length > 0) throw new Error(`Add to docs/.vitepress/navigation.ts: ${unlisted.join(', ')}`)

function linksOf(items: DefaultTheme.SidebarItem[]): string[] {
  return items.flatMap(({ link, items: children = [] }) => [
    ...(link === undefined ? [] : [link]),
    ...linksOf(children),
  ])
}

/** The pages of a folder under their first headings, in the order of their file names. */
function pagesOf(folder: string): { text: string; link: string }[] {
  const names = readdirSync(path.join(documents, folder)).filter((name) => name.endsWith('.md'))
  return names
    .filter((name) => name !== 'README.md' && name !== 'index.md')
    .map((name) => {
      const heading = /^# (.*)$/m.exec(readFileSync(path.join(documents, folder, name), 'utf8'))?.[1] ?? name
      return { text: heading.replaceAll('`', ''), link: `/${folder}/${name.replace(/\.md$/, '')}` }
    })
}
