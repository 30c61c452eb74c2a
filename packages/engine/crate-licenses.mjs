import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** @typedef {{ id: string, name: string, version: string, source: string | null, manifest_path: string }} Crate */
/** @typedef {{ id: string, deps: { pkg: string, dep_kinds: { kind: string | null }[] }[] }} Node */

/** Returns the licenses of all crates that the binaries are linked with, as their authors published them. */
export async function crateLicenses() {
  const cwd = fileURLToPath(new URL('.', import.meta.url))
  const args = ['metadata', '--locked', '--format-version', '1']
  const { stdout } = await promisify(execFile)('cargo', args, { cwd, maxBuffer: 2 ** 28 })
  /** @type {{ packages: Crate[], resolve: { nodes: Node[] } }} */
  const { packages, resolve } = JSON.parse(stdout)
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]))
  const linked = new Set(packages.filter(({ name }) => name === 'serve-dist-engine').map(({ id }) => id))
  // The set grows during the iteration.
  for (const id of linked) {
    for (const { pkg, dep_kinds } of nodes.get(id)?.deps ?? []) {
      if (dep_kinds.some(({ kind }) => kind === null)) linked.add(pkg)
    }
  }
  const others = packages.filter(({ id, source }) => linked.has(id) && source !== null)
  // Most crates share a few texts.
  /** @type {Map<string, string[]>} */
  const cratesOf = new Map()
  for (const { name, version, manifest_path: manifest } of others) {
    for (const text of await licensesIn(dirname(manifest))) {
      cratesOf.set(text, [...(cratesOf.get(text) ?? []), `${name} ${version}`])
    }
  }
  return Array.from(cratesOf, ([text, crates]) => `${crates.join(', ')}\n\n${text}\n`).join('\n')
}

/** @param {string} folder */
async function licensesIn(folder) {
  const names = await readdir(folder)
  const files = names.filter((name) => /^(?:licen[cs]e|copying|copyright|notice|unlicense)/i.test(name))
  // If there are two licenses to choose from, use the shorter one.
  const needed = files.some((name) => /mit/i.test(name))
    ? files.filter((name) => !/apache/i.test(name))
    : files
  if (needed.length === 0) throw new Error(`${folder}: the crate has no license file`)
  return Promise.all(needed.map(async (file) => (await readFile(join(folder, file), 'utf8')).trim()))
}
