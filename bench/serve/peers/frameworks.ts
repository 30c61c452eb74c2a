// Frameworks that serve their own build: vinext and SvelteKit, with the fixture among their static files.
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { variantPath } from '@serve-dist/manifest'
import { cacheDirectory } from '../bench-directory.ts'
import { readSiteManifest } from '../load/fixtures.ts'
import { runProcess } from '../run-process.ts'
import { installMorePeers, morePeersDirectory, versionIn } from './find-server.ts'
import type { FoundServer, ServerDefinition } from './server-definition.ts'

const oldestNode = 22

/** Where vinext answers from memory, before it asks its router. */
const assetPath = '/_next/static'

/** The production server of vinext, with the fixture and its variants among its own assets. */
export const vinext: ServerDefinition = framework('vinext', 'vinext', {
  targetOf: (target) => assetPath + (target === '/' ? '/index.html' : target),
  async launch({ directory, port, scratch }) {
    const application = join(morePeersDirectory, 'vinext')
    const built = join(application, 'dist')
    if (!existsSync(join(built, 'server'))) await buildApplication('vinext', {})
    const output = join(scratch, 'dist')
    await copySite(directory, join(output, 'client', assetPath), 'originals and variants')
    await symlink(join(built, 'server'), join(output, 'server'))
    const program = `
      import { startProdServer } from 'vinext/server/prod-server'
      await startProdServer({ port: ${port}, host: '127.0.0.1', outDir: ${JSON.stringify(output)} })`
    return {
      command: process.execPath,
      arguments: ['--input-type=module', '--eval', program],
      directory: application,
    }
  },
})

/** SvelteKit's `adapter-node` with the fixture as its static files, which it compresses itself. */
export const sveltekit: ServerDefinition = framework('sveltekit-adapter-node', '@sveltejs/adapter-node', {
  // `/` is the application's own page there.
  targetOf: (target) => (target === '/' ? '/index.html' : target),
  launch: async ({ directory, port }) => ({
    command: process.execPath,
    arguments: [join(await buildSveltekit(directory), 'index.js')],
    environment: { PORT: String(port), HOST: '127.0.0.1' },
  }),
})

function framework(
  name: string,
  packageName: string,
  server: Omit<FoundServer, 'version'>,
): ServerDefinition {
  return {
    name,
    async find() {
      if (Number.parseInt(process.versions.node, 10) < oldestNode) {
        return `needs Node ${oldestNode}, the harness runs on ${process.versions.node}`
      }
      const folder = join(morePeersDirectory, 'node_modules', packageName)
      const version = await versionIn(folder).catch(() => undefined)
      return version === undefined ? installMorePeers : { ...server, version }
    },
  }
}

/** Builds once for each fixture. */
async function buildSveltekit(directory: string): Promise<string> {
  const { buildId } = await readSiteManifest(directory)
  const output = join(cacheDirectory, `sveltekit-${buildId.slice(0, 16)}`)
  if (existsSync(join(output, 'index.js'))) return output
  const assets = await mkdtemp(join(tmpdir(), 'serve-dist-sveltekit-'))
  try {
    await copySite(directory, assets, 'originals')
    await buildApplication('sveltekit', { BENCH_ASSETS: assets, BENCH_OUTPUT: output })
  } finally {
    await rm(assets, { recursive: true, force: true })
  }
  return output
}

async function buildApplication(name: string, environment: Readonly<Record<string, string>>): Promise<void> {
  const vite = join(morePeersDirectory, 'node_modules/vite/bin/vite.js')
  await runProcess(process.execPath, [vite, 'build'], {
    cwd: join(morePeersDirectory, name),
    env: { ...process.env, ...environment },
  })
}

/** Copies what a build serves, without its manifest. */
async function copySite(
  directory: string,
  target: string,
  what: 'originals' | 'originals and variants',
): Promise<void> {
  const { files } = await readSiteManifest(directory)
  const originals = files.map(({ path }) => path)
  const variants = files.flatMap((file) => file.variants.map(({ coding }) => variantPath(file.path, coding)))
  for (const path of what === 'originals' ? originals : originals.concat(variants)) {
    await mkdir(dirname(join(target, path)), { recursive: true })
    await copyFile(join(directory, path), join(target, path))
  }
}
