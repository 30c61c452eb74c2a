import { existsSync } from 'node:fs'
import { copyFile, mkdir, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { variantPath } from '@serve-dist/manifest'
import { readSiteManifest } from '../load/fixtures.ts'
import { runProcess } from '../run-process.ts'
import { installMorePeers, morePeersDirectory, versionIn } from './find-server.ts'
import type { LaunchInput, ServerDefinition } from './server-definition.ts'

const oldestNode = 22

/** The folder that vinext serves from memory, before its router. */
const assetPath = '/_next/static'

const application = join(morePeersDirectory, 'vinext')

/** The production server of vinext, with the fixture and its variants among its own assets. */
export const vinext: ServerDefinition = {
  name: 'vinext',
  async find() {
    if (Number.parseInt(process.versions.node, 10) < oldestNode) {
      return `needs Node ${oldestNode}, this is Node ${process.versions.node}`
    }
    const folder = join(morePeersDirectory, 'node_modules/vinext')
    const version = await versionIn(folder).catch(() => undefined)
    if (version === undefined) return installMorePeers
    return {
      version,
      targetOf: (target) => assetPath + (target === '/' ? '/index.html' : target),
      launch: async (input) => ({
        command: process.execPath,
        arguments: ['--input-type=module', '--eval', await programOf(input)],
        directory: application,
      }),
    }
  },
}

async function programOf({ directory, port, scratch }: LaunchInput): Promise<string> {
  const built = join(application, 'dist')
  if (!existsSync(join(built, 'server'))) {
    const vite = join(morePeersDirectory, 'node_modules/vite/bin/vite.js')
    await runProcess(process.execPath, [vite, 'build'], { cwd: application })
  }
  const output = join(scratch, 'dist')
  await copySite(directory, join(output, 'client', assetPath))
  await symlink(join(built, 'server'), join(output, 'server'))
  return `
    import { startProdServer } from 'vinext/server/prod-server'
    await startProdServer({ port: ${port}, host: '127.0.0.1', outDir: ${JSON.stringify(output)} })`
}

/** Copies the files of a build and their variants, without the manifest. */
async function copySite(directory: string, target: string): Promise<void> {
  const { files } = await readSiteManifest(directory)
  const variants = files.flatMap((file) => file.variants.map(({ coding }) => variantPath(file.path, coding)))
  for (const path of [...files.map((file) => file.path), ...variants]) {
    await mkdir(dirname(join(target, path)), { recursive: true })
    await copyFile(join(directory, path), join(target, path))
  }
}
