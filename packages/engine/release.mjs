// `node packages/engine/release.mjs <folder>` runs in the release workflow. It creates `npm/<platform>` from each
// `<folder>/<platform>/engine.node`, and makes @serve-dist/engine depend on these packages.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { platforms, writeBinaryPackage } from './binary-packages.mjs'
import { crateLicenses } from './crate-licenses.mjs'

const [binaries = '.'] = process.argv.slice(2)
const file = new URL('package.json', import.meta.url)
const engine = JSON.parse(await readFile(file, 'utf8'))
const licenses = await crateLicenses()
for (const platform of platforms) {
  const folder = fileURLToPath(new URL(`npm/${platform}`, import.meta.url))
  await writeBinaryPackage(platform, join(binaries, platform, 'engine.node'), engine, folder)
  await writeFile(join(folder, 'LICENSES'), licenses)
}
const optionalDependencies = Object.fromEntries(
  platforms.map((platform) => [`@serve-dist/engine-${platform}`, engine.version]),
)
await writeFile(file, `${JSON.stringify({ ...engine, optionalDependencies }, null, 2)}\n`)
