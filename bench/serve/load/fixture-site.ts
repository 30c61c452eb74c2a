import { createHash } from 'node:crypto'
import { readFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { precompress } from '@serve-dist/precompress'
import { cacheDirectory } from '../bench-directory.ts'
import { readSiteManifest } from '../peers/copy-site.ts'
import { showProgress } from '../progress.ts'

/** The files of a fixture, by path relative to its folder. */
export type FixtureFiles = ReadonlyMap<string, Buffer>

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
 * Writes a build and compresses it as a user's is. What is there from an earlier run is kept as it is if the same
 * files went into it and today's server reads its manifest.
 *
 * @returns the folder.
 */
export async function writeFixtureSite(name: string, files: FixtureFiles): Promise<string> {
  const all: FixtureFiles = new Map([['index.html', Buffer.from(page)], ...files])
  const digest = digestOf(all)
  const site = written.get(digest) ?? writeSite(name, all, digest)
  written.set(digest, site)
  return site
}

async function writeSite(name: string, files: FixtureFiles, digest: string): Promise<string> {
  const directory = join(cacheDirectory, name)
  const digestPath = `${directory}.sha256`
  if ((await readText(digestPath)) === digest && (await hasManifest(directory))) return directory
  await rm(digestPath, { force: true })
  await rm(directory, { recursive: true, force: true })
  for (const [path, bytes] of files) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), bytes)
  }
  await precompress(directory, {
    appType: 'spa',
    assetsDirectory: 'assets',
    isHashed: (path) => path.startsWith('assets/'),
    durable: false,
    onProgress: ({ files: done, totalFiles }) => {
      const told = done - (done % tellEach)
      if (totalFiles > tellEach)
        showProgress(`${name}: ${told} of ${totalFiles} files compressed, which is kept`)
    },
  })
  await writeFile(digestPath, digest)
  return directory
}

/** How many files take long enough to be told of. */
const tellEach = 1000

async function hasManifest(directory: string): Promise<boolean> {
  try {
    await readSiteManifest(directory)
    return true
  } catch {
    return false
  }
}

function digestOf(files: FixtureFiles): string {
  const hash = createHash('sha256')
  for (const [path, bytes] of files) hash.update(`${path}\n${bytes.length}\n`).update(bytes)
  return hash.digest('hex')
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    return undefined
  }
}
