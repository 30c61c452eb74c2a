import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { contentCodings, type Manifest, manifestPath, variantPath } from '@serve-dist/manifest'
import { expect } from 'vitest'
import { decodeIndependently } from '../../src/decode-independently.ts'
import { readManifest } from '../../src/read-manifest.ts'
import { walkFiles } from '../../src/walk-files.ts'
import type { FrameworkProject } from './framework-project.ts'

export interface WholeBuild {
  readonly project: FrameworkProject
  /** The deployed folder, relative to the project. */
  readonly folder: string
  /** Matches exactly the paths of immutable files. */
  readonly hashed: RegExp
  /** Some of the required pages. */
  readonly pages: readonly string[]
  /** Matches paths in the project where the framework writes variants for its own handler. */
  readonly others?: RegExp
}

/**
 * Expects a complete build: the manifest lists exactly the files of the folder, and each variant decodes to
 * its file. Exactly the hashed names are immutable. No other folder of the project, such as the server's
 * code, has files of serve-dist.
 */
export async function expectWholeBuild(whole: WholeBuild): Promise<Manifest> {
  const { project, folder, hashed, pages, others } = whole
  const directory = path.join(project.folder, folder)
  const manifest = await readManifest(directory)
  const listed = manifest.files.flatMap(({ path: name, variants }) => [
    name,
    ...variants.map(({ coding }) => variantPath(name, coding)),
  ])
  const onDisk = await walkFiles(directory)
  expect(onDisk.filter((name) => !isHidden(name))).toEqual(listed.toSorted())
  expect(listed).toEqual(expect.arrayContaining([...pages]))

  const immutable = manifest.files.filter(({ cache }) => cache === 'immutable').map((file) => file.path)
  expect(immutable.length).toBeGreaterThan(0)
  expect(immutable).toEqual(manifest.files.map((file) => file.path).filter((name) => hashed.test(name)))

  const variants = manifest.files.flatMap((file) => file.variants.map(({ coding }) => ({ file, coding })))
  expect(new Set(variants.map(({ coding }) => coding))).toEqual(
    new Set(contentCodings.map(({ name }) => name)),
  )
  for (const { file, coding } of variants) {
    const variant = variantPath(file.path, coding)
    const decoded = await decodeIndependently(path.join(directory, variant), coding)
    expect.soft((await readFile(path.join(directory, file.path))).equals(decoded), variant).toBe(true)
  }
  const ours = await findServeDistFiles(project.folder, folder)
  expect(ours.filter((name) => others?.test(name) !== true)).toEqual([])
  return manifest
}

/** Returns the last line of each compression step in a build's output. A build needs exactly one. */
export function compressionSummaries(output: string): string[] {
  return output.match(/✓ .+ variants .+/g) ?? []
}

/** Removes the parts of a manifest that depend on the time of a build. */
export function withoutTimes({ files, buildId: _id, lastModified: _time, ...others }: Manifest): unknown {
  return { ...others, files: files.map(({ lastModified: _seen, ...file }) => file) }
}

/** Lists variants and manifests outside the deployed folder. */
async function findServeDistFiles(project: string, deployed: string): Promise<string[]> {
  const entries = await readdir(project, { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
  const files = await Promise.all(
    folders.map(async ({ name }) =>
      (await walkFiles(path.join(project, name))).map((file) => `${name}/${file}`),
    ),
  )
  const endings = [...contentCodings.map(({ extension }) => extension), `/${manifestPath}`]
  return files
    .flat()
    .filter((file) => !file.startsWith(`${deployed}/`) && endings.some((ending) => file.endsWith(ending)))
}

function isHidden(name: string): boolean {
  return name.split('/').some((segment) => segment.startsWith('.') && segment !== '.well-known')
}
