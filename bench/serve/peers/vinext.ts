import { existsSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { copySite } from './copy-site.ts'
import { buildApplication, findFramework, morePeersDirectory } from './more-peers.ts'
import type { ServerDefinition } from './server-definition.ts'

/** Where vinext answers from memory, before it asks its router. */
const assetPath = '/_next/static'

/** The production server of vinext, with the fixture and its variants among its own assets. */
export const vinext: ServerDefinition = {
  name: 'vinext',
  async find() {
    const framework = await findFramework('vinext')
    if ('missing' in framework) return framework.missing
    return {
      version: framework.version,
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
    }
  },
}
