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

/** The output folders of frameworks. A folder precedes the folders that contain it. */
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

/** Returns commands for builds in the working directory, to suggest when the named folder does not exist. */
export function describeOtherBuilds(): readonly string[] {
  const found = frameworkOutputs.flatMap((path) => {
    const hasManifest = existsSync(join(path, manifestPath))
    // `dist` is the default folder, which does not exist here.
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

/** Names of the entry modules of server builds, from bundlers and frameworks. */
export const serverModuleName: RegExp = /^(?:entry|entry[-.]server|handler|index|server|main)\.[cm]?js$/

/** Returns the module that renders the pages of a client build, relative to the folder that contains both builds. */
export function serverModuleIn(output: string, client: string): string | undefined {
  const names = namesIn(join(output, 'server'))
  // Only Nitro's build has this layout. Other folders `public` contain sources.
  if (client === 'public') return names.includes('index.mjs') ? 'server/index.mjs' : undefined
  if (client !== 'client' || names.length === 0) return undefined
  if (existsSync(join(output, 'handler.js'))) return 'handler.js'
  const name = names.find((found) => serverModuleName.test(found))
  return name === undefined ? undefined : `server/${name}`
}

/** Returns the command that serves a client build together with its server build. */
export function renderingCommand(directory: string): string | undefined {
  const root = resolve(directory)
  const module = serverModuleIn(dirname(root), basename(root))
  if (module === undefined) return undefined
  const named = directory.replaceAll('\\', '/')
  const words = [posix.join(named), '--ssr', posix.join(named, '..', module)]
  return `npx serve-dist ${words.map(shellWord).join(' ')}`
}

/** Returns a warning if all pages of a manifest belong to a build in a subfolder, so that `/` has no page. */
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
  // Without its own manifest, the variants of this manifest would look like those of a lost one.
  const compress = existsSync(join(root, below, manifestPath)) ? '' : `${compressCommand(path)}, then: `
  return [
    `${root}: the build for browsers is in its folder ${below}/, so / has no page.`,
    ...(code === undefined || !hasServer ? [] : [`all visitors can read the server's code (${code.path}).`]),
    `Run: ${compress}${renderingCommand(path) ?? `npx serve-dist ${shellWord(path)}`}`,
  ].join(' ')
}

function firstFolder(path: string): string | undefined {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : undefined
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted()
  } catch {
    return []
  }
}
