import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { DefaultTheme } from 'vitepress'
import { repository } from './repository.ts'

export const navigation: DefaultTheme.NavItem[] = [
  { text: 'Guide', link: '/getting-started' },
  { text: 'Reference', link: '/cli' },
  ...existing('compared.md', 'Compared'),
]

export const sidebar: DefaultTheme.SidebarItem[] = [
  {
    text: 'Guide',
    items: [
      { text: 'What it is, and why', link: '/why' },
      ...existing('compared.md', 'Compared'),
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
  ...sectionOf('Migrate', [
    ...existing('migrate/serve.md', 'From serve'),
    ...existing('migrate/sirv.md', 'From sirv and express.static'),
    ...existing('migrate/vite-plugin-compression.md', 'From vite-plugin-compression'),
    ...existing('migrate/nginx.md', 'From nginx'),
  ]),
  {
    text: 'Reference',
    items: [
      { text: 'Plugin options', link: '/plugin-options' },
      { text: 'Command line', link: '/cli' },
      { text: 'Configuration', link: '/configuration' },
      { text: 'Errors', link: '/errors' },
      { text: 'HTTP', link: '/http' },
      { text: 'Manifest', link: '/manifest' },
      { text: 'Report', link: '/report' },
      { text: 'Check', link: '/check' },
      { text: 'Explain', link: '/explain' },
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
const unlisted = pagesOf('.').filter(({ link }) => !listed.has(link) && link !== '/index')
if (unlisted.length > 0) {
  throw new Error(`Add to docs/.vitepress/navigation.ts: ${unlisted.map(({ link }) => link).join(', ')}`)
}

function linksOf(items: DefaultTheme.SidebarItem[]): string[] {
  return items.flatMap(({ link, items: children = [] }) => [
    ...(link === undefined ? [] : [link]),
    ...linksOf(children),
  ])
}

/** The pages of a folder, in the order of their file names. */
function pagesOf(folder: string): { text: string; link: string }[] {
  const names = readdirSync(new URL(`../${folder}`, import.meta.url)).filter((name) => name.endsWith('.md'))
  return names
    .filter((name) => name !== 'README.md')
    .flatMap((name) => existing(path.join(folder, name).replaceAll('\\', '/')))
}

/** A section of the sidebar, or nothing if it has no items. */
function sectionOf(text: string, items: DefaultTheme.SidebarItem[]): DefaultTheme.SidebarItem[] {
  return items.length === 0 ? [] : [{ text, items }]
}

/** The item of a page, or nothing if the page does not exist. By default its text is the first heading. */
function existing(page: string, text?: string): { text: string; link: string }[] {
  const file = new URL(`../${page}`, import.meta.url)
  if (!existsSync(file)) return []
  const heading = /^# (.*)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? page
  return [{ text: text ?? heading.replaceAll('`', ''), link: `/${page.replace(/\.md$/, '')}` }]
}
