// Compiles dist/engine.node if cargo is installed and the sources have changed. SERVE_DIST_ENGINE_PROFILE=dev compiles
// faster, with debug assertions, but the result is slower.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { findCargoProblem } from './find-cargo.mjs'

const folder = fileURLToPath(new URL('.', import.meta.url))
const addon = join(folder, 'dist/engine.node')
const stamp = join(folder, 'dist/engine.sha256')

const profile = process.env['SERVE_DIST_ENGINE_PROFILE'] || 'release'
const digest = `${profile} ${await digestOfSources()}`
if ((await readFile(stamp, 'utf8').catch(() => '')) !== digest) {
  // Remove a binary of other sources.
  for (const file of [stamp, addon]) await rm(file, { force: true })
  const reason = await findCargoProblem()
  if (reason === undefined) await build()
  else console.log(`The native engine was not built, and serve-dist will use Node's engine: ${reason}`)
}

async function digestOfSources() {
  const crates = await readdir(join(folder, 'crates'), { recursive: true, withFileTypes: true })
  const files = crates.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const others = ['Cargo.toml', 'Cargo.lock', '.cargo/config.toml'].map((name) => join(folder, name))
  const hash = createHash('sha256')
  for (const file of [...files.toSorted(), ...others])
    hash.update(file.slice(folder.length)).update(await readFile(file))
  return hash.digest('hex')
}

async function build() {
  const args = ['build', '--locked', '--package', 'serve-dist-engine', '--profile', profile]
  const format = '--message-format=json-render-diagnostics'
  const cargo = spawn('cargo', [...args, format], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  const [messages, [exitCode]] = await Promise.all([text(cargo.stdout), once(cargo, 'close')])
  const library = /^.*"kind":\["cdylib"\].*"filenames":\["([^"]+)"/m.exec(messages)?.[1]
  if (exitCode !== 0 || library === undefined) {
    process.exitCode = 1
    return
  }
  const { size } = await stat(library)
  if (profile === 'release' && size > 5e6)
    throw new Error(
      `${library} is too large: it has ${size} bytes, and the limit is 5,000,000. Remove code or dependencies, or raise the limit in packages/engine/build.mjs.`,
    )
  await mkdir(join(folder, 'dist'), { recursive: true })
  // Replace the file, because running processes have the old one mapped.
  await copyFile(library, `${addon}.new`)
  await rename(`${addon}.new`, addon)
  await writeFile(stamp, digest)
}
