import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join, posix, resolve } from 'node:path'
import {
  compressCommand,
  isPageType,
  type Manifest,
  manifestPath,
  mediaTypeOf,
  recordPath,
  shellWord,
} from '@serve-dist/manifest'

/** Where frameworks write what is served; a folder inside another one stands before it. */
export const frameworkOutputs: readonly string[] = [
  'build/client',
  'build',
  'dist/client',
  'dist',
  '.output/public',
  '.vitepress/dist',
  'docs/.vitepress/dist',
  'storybook-static',
]

/** The commands for builds that lie in the working directory, where the named one does not. */
export function describeOtherBuilds(): readonly string[] {
  const found = frameworkOutputs.flatMap((path) => {
    const hasManifest = existsSync(join(path, manifestPath))
    // Every library has a `dist`, and who names no folder has none.
    const isLikely = path !== 'dist' && namesIn(path).some((name) => !name.startsWith('.'))
    return hasManifest || isLikely ? [{ path, hasManifest }] : []
  })
  const innermost = found.filter(
    ({ path, hasManifest }) => hasManifest || !found.some((other) => other.path.startsWith(`${path}/`)),
  )
  return innermost.flatMap(({ path, hasManifest }) => {
    const line = `  A build ${hasManifest ? '' : 'without a manifest '}is in ${path}: npx serve-dist ${path}`
    const rendering = renderingCommand(path)
    return rendering === undefined ? [line] : [line, `  with pages that the server renders: ${rendering}`]
  })
}

/** Modules that a server build begins with, by the names that bundlers and frameworks give them. */
export const serverModuleName: RegExp = /^(?:entry|entry[-.]server|handler|index|server|main)\.[cm]?js$/

/** The module that renders the pages of the client's build beside it, relative to the folder of both. */
export function serverModuleIn(output: string, client: string): string | undefined {
  const names = namesIn(join(output, 'server'))
  // A folder `public` beside a server's sources is no build: Nitro's is.
  if (client === 'public') return names.includes('index.mjs') ? 'server/index.mjs' : undefined
  if (client !== 'client' || names.length === 0) return undefined
  if (existsSync(join(output, 'handler.js'))) return 'handler.js'
  const name = names.find((found) => serverModuleName.test(found))
  return name === undefined ? undefined : `server/${name}`
}

/** The command that serves a client's build with the pages that the server beside it renders. */
export function renderingCommand(directory: string): string | undefined {
  const root = resolve(directory)
  const module = serverModuleIn(dirname(root), basename(root))
  if (module === undefined) return undefined
  const named = directory.replaceAll('\\', '/')
  const words = [posix.join(named), '--ssr', posix.join(named, '..', module)]
  return `npx serve-dist ${words.map(shellWord).join(' ')}`
}

/** A line about a manifest of which all pages lie in a build of its own further below: nobody finds them at `/`. */
export function describeClientBelow(
  { directory, root }: { readonly directory: string; readonly root: string },
  { base, files }: Pick<Manifest, 'base' | 'files'>,
): string | undefined {
  const pages = files.filter(({ path }) => isPageType(mediaTypeOf(path)))
  const inClient = files.filter(({ path }) => path.startsWith('client/'))
  const folders = new Set((pages.length > 0 ? pages : inClient).map(({ path }) => firstFolder(path)))
  const [below] = folders
  if (below === undefined || folders.size > 1 || base.startsWith(`/${below}/`)) return undefined
  const states = [manifestPath, recordPath]
  const hasServer = below === 'client' && existsSync(join(root, 'server'))
  if (!hasServer && !states.some((state) => existsSync(join(root, below, state)))) return undefined
  const code = files.find(({ path }) => path === 'handler.js' || /^server\/.*\.[cm]?js$/.test(path))
  const path = posix.join(directory.replaceAll('\\', '/'), below)
  // Without a manifest, the variants that this one made would look like those of a build that lost it.
  const compress = existsSync(join(root, below, manifestPath)) ? '' : `${compressCommand(path)}, then: `
  return [
    `${root}: the build for browsers is ${below}/ in it, and nothing lies at /;`,
    ...(code === undefined || !hasServer ? [] : [`everybody can read the server's code (${code.path});`]),
    `run: ${compress}${renderingCommand(path) ?? `npx serve-dist ${shellWord(path)}`}`,
  ].join(' ')
}

function firstFolder(path: string): string | undefined {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : undefined
}

/** None where no folder is. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted()
  } catch {
    return []
  }
}
