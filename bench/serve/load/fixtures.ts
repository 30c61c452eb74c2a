import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Manifest, manifestPath } from '@serve-dist/manifest'
import { readManifestFile } from '@serve-dist/manifest/read-build-manifest'
import { precompress } from '@serve-dist/precompress'
import { cacheDirectory } from '../bench-directory.ts'
import { showProgress } from '../progress.ts'

/** Minified JavaScript (7.9 MB), from which the fixtures are cut. */
const scripts = ['typescript/ts.worker.js', 'css/css.worker.js', 'html/html.worker.js']

let corpus: Promise<Buffer> | undefined

/**
 * Returns real JavaScript: `size` bytes from `offset` on, and from the start again after the end.
 *
 * @throws RangeError if `size` is larger than the corpus, because fixtures must not repeat text.
 */
export async function cutScript(offset: number, size: number): Promise<Buffer> {
  corpus ??= readCorpus()
  const bytes = await corpus
  if (size > bytes.length) throw new RangeError(`${size} bytes wanted, the corpus has ${bytes.length}`)
  const start = offset % bytes.length
  const head = bytes.subarray(start, start + size)
  return Buffer.concat([head, bytes.subarray(0, size - head.length)])
}

async function readCorpus(): Promise<Buffer> {
  const folder = join(dirname(createRequire(import.meta.url).resolve('monaco-editor')), 'language')
  return Buffer.concat(await Promise.all(scripts.map((script) => readFile(join(folder, script)))))
}

/** Returns bytes that cannot be compressed, the same in every run. */
export function noise(seed: number, size: number): Buffer {
  return createHash('shake256', { outputLength: size }).update(String(seed)).digest()
}

/** The files of a fixture, by path relative to its folder. */
type FixtureFiles = ReadonlyMap<string, Buffer>

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Fixture</title>
  </head>
  <body></body>
</html>
`

const written = new Map<string, Promise<string>>()

/**
 * Writes a build and compresses it with the default options. Reuses a fixture of an earlier run if it has the same files
 * and a readable manifest. Returns the folder.
 */
export async function writeFixtureSite(name: string, files: FixtureFiles): Promise<string> {
  const all: FixtureFiles = new Map([['index.html', Buffer.from(page)], ...files])
  const hash = createHash('sha256')
  for (const [path, bytes] of all) hash.update(`${path}\n${bytes.length}\n`).update(bytes)
  const digest = hash.digest('hex')
  const site = written.get(digest) ?? writeSite(name, all, digest)
  written.set(digest, site)
  return site
}

async function writeSite(name: string, files: FixtureFiles, digest: string): Promise<string> {
  const directory = join(cacheDirectory, name)
  const digestPath = `${directory}.sha256`
  const isKept = existsSync(digestPath) && (await readFile(digestPath, 'utf8')) === digest
  const manifest = isKept ? await readSiteManifest(directory).catch(() => undefined) : undefined
  if (manifest !== undefined) return directory
  await rm(digestPath, { force: true })
  await rm(directory, { recursive: true, force: true })
  for (const [path, bytes] of files) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), bytes)
  }
  showProgress(`${name}: compressing ${files.size} files, which are kept`)
  await precompress(directory, {
    appType: 'spa',
    assetsDirectory: 'assets',
    isHashed: (path) => path.startsWith('assets/'),
    durable: false,
  })
  await writeFile(digestPath, digest)
  return directory
}

/** Reads a build's manifest. */
export async function readSiteManifest(directory: string): Promise<Manifest> {
  return await readManifestFile(join(directory, manifestPath))
}
