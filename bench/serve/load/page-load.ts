import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'vite'
import { benchDirectory, cacheDirectory } from '../bench-directory.ts'
import { readSiteManifest } from './fixtures.ts'
import type { Workload, WorkloadRequest } from './workload.ts'

/** Requests that the page makes once it runs: its route and its font. */
const loadedLater = [
  /^assets\/home-.*\.js$/,
  /^assets\/home-.*\.css$/,
  /^assets\/literata-latin-wght-.*\.woff2$/,
]

/** Everything that a browser fetches to show the start page of `examples/spa`, in its order. */
export const pageLoad: Workload = {
  name: 'page-load',
  title: "The first load of examples/spa, in a browser's order",
  async prepare() {
    const directory = await buildSpa()
    const { files } = await readSiteManifest(directory)
    const paths = files.map(({ path }) => path)
    const html = await readFile(join(directory, 'index.html'), 'utf8')
    const found = loadedLater.flatMap((pattern) => paths.filter((path) => pattern.test(path)))
    const order = [...namedIn(html), ...found]
    const requests = order.map((file) => requestOf(file, `/${file}`))
    return {
      directory,
      requests: [requestOf('index.html', '/'), ...requests],
      sequence: Array.from({ length: order.length + 1 }, (_, index) => index),
      newConnections: false,
    }
  },
}

/** Builds `examples/spa` with its own configuration, and answers the folder. */
export async function buildSpa(): Promise<string> {
  const directory = join(cacheDirectory, 'spa')
  await build({
    root: join(benchDirectory, '../examples/spa'),
    logLevel: 'error',
    build: { outDir: directory, emptyOutDir: true },
  })
  return directory
}

/** Files that the page names: first those that block it, then icons. */
function namedIn(html: string): string[] {
  const paths = Array.from(html.matchAll(/(?:href|src)="\/([^"]+)"/g), ([, path = '']) => path)
  return [
    ...paths.filter((path) => path.startsWith('assets/')),
    ...paths.filter((path) => path === 'icon.svg'),
  ]
}

function requestOf(file: string, target: string): WorkloadRequest {
  return { target, file, method: 'GET', accept: ['gzip', 'br', 'zstd'] }
}
