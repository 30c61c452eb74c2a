import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { decompress } from 'fzstd'
import { compressible, minimumFileSize } from './contender.ts'
import { change } from './emit-tree.ts'
import { listFiles } from './tree.ts'

/** The files that a contender must have written. */
export interface ExpectedOutput {
  readonly tree: string
  readonly outDir: string
  readonly extensions: readonly string[]
  readonly changed: string | undefined
}

const decoders: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  '.gz': (bytes) => gunzipSync(bytes),
  '.br': (bytes) => brotliDecompressSync(bytes),
  '.zst': (bytes) => decompress(bytes),
}

/**
 * Compares the originals with the tree, and decodes every variant.
 *
 * @returns the bytes of the variants, by extension.
 * @throws Error that lists missing and wrong files.
 */
export async function verifyOutput(expected: ExpectedOutput): Promise<Record<string, number>> {
  const { tree, outDir, extensions, changed } = expected
  const sizes: Record<string, number> = Object.fromEntries(extensions.map((extension) => [extension, 0]))
  const wrong: string[] = []
  for (const path of await listFiles(tree)) {
    const source = await readFile(join(tree, path))
    const original = path === changed ? change(source) : source
    if ((await matches(join(outDir, path), (bytes) => bytes, original)) === undefined) wrong.push(path)
    if (!compressible.test(path) || original.length < minimumFileSize) continue
    for (const [extension, decode] of Object.entries(decoders)) {
      if (!extensions.includes(extension)) continue
      const size = await matches(join(outDir, path + extension), decode, original)
      if (size === undefined) wrong.push(path + extension)
      sizes[extension] = (sizes[extension] ?? 0) + (size ?? 0)
    }
  }
  if (wrong.length > 0)
    throw new Error(`${wrong.length} files missing or wrong: ${wrong.slice(0, 3).join(', ')}`)
  return sizes
}

/** Returns the size of a file if it decodes to the original. */
async function matches(
  path: string,
  decode: (bytes: Uint8Array) => Uint8Array,
  original: Buffer,
): Promise<number | undefined> {
  try {
    const bytes = await readFile(path)
    return original.equals(decode(bytes)) ? bytes.length : undefined
  } catch {
    return undefined
  }
}
