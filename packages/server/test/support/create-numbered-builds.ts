import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Manifest, manifestPath, parseManifest, stateDirectory } from '@serve-dist/manifest'
import { precompress } from '@serve-dist/precompress'
import { entityTagOf } from '../../src/protocol/entity-tag.ts'
import { compressibleText } from './compressible-text.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** The content that an entity tag identifies for a path. */
interface KnownAnswer {
  readonly build: number
  readonly coding: string
  readonly size: number
  readonly sha256: string
}

/** Builds to deploy one after the other. Each file contains its build's number. */
export interface NumberedBuilds {
  /** A link to the folder of the deployed build. */
  readonly directory: string
  readonly paths: readonly string[]
  /** Returns the number of the newest build with deployed files. */
  newest(): number
  /** Deploys the next build: every other time into the emptied folder, else with a link to a new one. */
  deploy(): Promise<Manifest>
  /** Returns the content that an entity tag identifies for a path. */
  known(path: string, entityTag: string): KnownAnswer | undefined
}

/** Incompressible bytes. Each build changes some every 64 KiB. */
const noise = randomBytes(20_000_000)

/** File sizes from 100 B to 20 MB. */
const sizes = { 'tiny.txt': 100, 'image.png': 100_000, 'font.woff2': 1_000_000, 'film.mp4': noise.length }

/** Creates builds that are ready to deploy. None is deployed yet. */
export async function createNumberedBuilds(count: number): Promise<NumberedBuilds> {
  const root = await temporaryDirectory()
  const directory = join(root, 'dist')
  const answers = new Map<string, KnownAnswer>()
  const manifests: Manifest[] = []
  for (let build = 1; build <= count; build += 1) {
    const manifest = await write(join(root, `release-${build}`), filesOf(build))
    manifests.push(manifest)
    for (const { path, size, sha256, variants } of manifest.files) {
      for (const answer of [{ coding: 'identity', size, sha256 }, ...variants]) {
        answers.set(`${path} ${entityTagOf(answer.sha256)}`, { build, ...answer })
      }
    }
  }
  let newest = 0

  /** Deploys like `emptyOutDir`: deletes the old files first, and writes the manifest last. */
  const overwrite = async (release: string): Promise<void> => {
    for (const name of await readdir(directory)) await rm(join(directory, name), { recursive: true })
    for (const name of (await readdir(release)).filter((entry) => entry !== stateDirectory)) {
      await rename(join(release, name), join(directory, name))
    }
    await rename(join(release, stateDirectory), join(directory, stateDirectory))
    await rm(release, { recursive: true })
  }

  /** Deploys with release folders: changes a link, then deletes the old folder. */
  const moveLink = async (release: string): Promise<void> => {
    const before = await realpath(directory).catch(() => undefined)
    await symlink(release, `${directory}.new`)
    await rename(`${directory}.new`, directory)
    if (before !== undefined) await rm(before, { recursive: true })
  }

  return {
    directory,
    paths: [...filesOf(0).keys()],
    newest: () => newest,
    async deploy() {
      newest += 1
      const manifest = manifests[newest - 1]
      if (manifest === undefined) throw new RangeError(`there are ${count} builds, no more`)
      const release = join(root, `release-${newest}`)
      await (newest % 2 === 0 ? overwrite(release) : moveLink(release))
      return manifest
    },
    known: (path, entityTag) => answers.get(`${path} ${entityTag}`),
  }
}

async function write(folder: string, files: ReadonlyMap<string, Uint8Array>): Promise<Manifest> {
  await mkdir(folder)
  for (const [path, content] of files) await writeFile(join(folder, path), content)
  await precompress(folder, { durable: false })
  return parseManifest(await readFile(join(folder, manifestPath), 'utf8'))
}

function filesOf(build: number): ReadonlyMap<string, Uint8Array> {
  return new Map<string, Uint8Array>([
    ['index.html', Buffer.from(`<!doctype html><title>Build ${build}</title>`)],
    ['app.js', Buffer.from(compressibleText(4000, `build${build}`))],
    ...Object.entries(sizes).map(([path, size]) => [path, stamped(build, size)] as const),
  ])
}

function stamped(build: number, size: number): Uint8Array {
  const content = Buffer.from(noise.subarray(0, size))
  for (let offset = 0; offset < size; offset += 65_536) content.write(`build ${build};`, offset, 'latin1')
  return content
}
