import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export { platforms } from './dist/load-binding.js'

/**
 * Writes the package for the binary of one platform into a folder.
 *
 * @param {string} platform
 * @param {string} addon The path of the binary.
 * @param {{ version: string, license: string, engines: object, homepage?: string, bugs?: string, repository?: object }} engine The package.json of @serve-dist/engine.
 * @param {string} folder
 */
export async function writeBinaryPackage(platform, addon, engine, folder) {
  const [os, cpu, libc] = platform.split('-')
  const { version, license, engines, homepage, bugs, repository } = engine
  const name = `@serve-dist/engine-${platform}`
  const libcs = libc === undefined ? {} : { libc: [libc === 'gnu' ? 'glibc' : libc] }
  const manifest = {
    name,
    version,
    description: `The binary of @serve-dist/engine for ${platform}`,
    homepage,
    bugs,
    license,
    repository,
    main: 'engine.node',
    files: ['engine.node', 'LICENSES'],
    os: [os],
    cpu: [cpu],
    ...libcs,
    engines,
    publishConfig: { access: 'public' },
  }
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  await writeFile(join(folder, 'README.md'), `# ${name}\n\n${manifest.description}.\n`)
  await copyFile(fileURLToPath(new URL('../../LICENSE', import.meta.url)), join(folder, 'LICENSE'))
  await copyFile(addon, join(folder, 'engine.node'))
}
