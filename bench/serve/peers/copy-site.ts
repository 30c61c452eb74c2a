import { copyFile, mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Manifest, manifestPath, parseManifest, variantPath } from '@serve-dist/manifest'

/** Copies what a build serves, without its manifest. */
export async function copySite(
  directory: string,
  target: string,
  what: 'originals' | 'originals and variants',
): Promise<void> {
  const { files } = await readSiteManifest(directory)
  const originals = files.map(({ path }) => path)
  const variants = files.flatMap((file) => file.variants.map(({ coding }) => variantPath(file.path, coding)))
  for (const path of what === 'originals' ? originals : originals.concat(variants)) {
    await mkdir(dirname(join(target, path)), { recursive: true })
    await copyFile(join(directory, path), join(target, path))
  }
}

/** Reads a build's manifest. */
export async function readSiteManifest(directory: string): Promise<Manifest> {
  return parseManifest(await readFile(join(directory, manifestPath), 'utf8'))
}
