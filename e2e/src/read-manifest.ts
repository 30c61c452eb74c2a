import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { type Manifest, manifestPath, parseManifest } from '@serve-dist/manifest'

/** Reads the manifest of a build's folder. */
export async function readManifest(directory: string): Promise<Manifest> {
  return parseManifest(await readFile(path.join(directory, manifestPath), 'utf8'))
}
