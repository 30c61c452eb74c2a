import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'vite'
import { benchDirectory, cacheDirectory } from '../bench-directory.ts'
import { readSiteManifest } from './fixtures.ts'
import type { PreparedWorkload, WorkloadRequest } from './workload.ts'

/** Files that the page requests after its scripts ran: its route and its font. */
const loadedLater = [
  /^assets\/home-.*\.js$/,
  /^assets\/home-.*\.css$/,
  /^assets\/literata-latin-wght-.*\.woff2$/,
]

/** Makes the requests of a browser for the start page of `examples/spa`, in the browser's order. */
export async function preparePageLoad(): Promise<PreparedWorkload> {
  const directory = await buildSpa()
  const { files } = await readSiteManifest(directory)
  const paths = files.map(({ path }) => path)
  const html = await readFile(join(directory, 'index.html'), 'utf8')
  const found = loadedLater.flatMap((pattern) => paths.filter((path) => pattern.test(path)))
  const requests = [...namedIn(html), ...found].map((file) => requestOf(file, `/${file}`))
  return { directory, requests: [requestOf('index.html', '/'), ...requests] }
}

/** Builds `examples/spa` with its own configuration. Returns the folder. */
export async function buildSpa(): Promise<string> {
  const directory = join(cacheDirectory, 'spa')
  await build({
    root: join(benchDirectory, '../examples/spa'),
    logLevel: 'error',
    build: { outDir: directory, emptyOutDir: true },
  })
  return directory
}

/** Returns the files in the page: first those that block it, then icons. */
function namedIn(html: string): string[] {
  const paths = Array.from(html.matchAll(/(?:href|src)="\/([^"]+)"/g), ([, path = '']) => path)
  return [
    ...paths.filter((path) => path.startsWith('assets/')),
    ...paths.filter((path) => path === 'icon.svg'),
  ]
}

function requestOf(file: string, target: string): WorkloadRequest {
  return { target, file, accept: ['gzip', 'br', 'zstd'] }
}
