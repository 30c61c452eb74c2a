import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cacheDirectory } from '../bench-directory.ts'
import { copySite, readSiteManifest } from './copy-site.ts'
import { buildApplication, findFramework } from './more-peers.ts'
import type { ServerDefinition } from './server-definition.ts'

/** SvelteKit's `adapter-node` with the fixture as its static files, which it compresses itself. */
export const sveltekit: ServerDefinition = {
  name: 'sveltekit-adapter-node',
  async find() {
    const framework = await findFramework('@sveltejs/adapter-node')
    if ('missing' in framework) return framework.missing
    return {
      version: framework.version,
      // `/` is the application's own page there.
      targetOf: (target) => (target === '/' ? '/index.html' : target),
      async launch({ directory, port }) {
        const output = await buildWith(directory)
        return {
          command: process.execPath,
          arguments: [join(output, 'index.js')],
          environment: { PORT: String(port), HOST: '127.0.0.1' },
        }
      },
    }
  },
}

/** Builds once for each fixture. */
async function buildWith(directory: string): Promise<string> {
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
