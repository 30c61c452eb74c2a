import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { decompress } from 'fzstd'
import { compressible, smallestFile } from './contender.ts'
import { change } from './emit-tree.ts'
import { filesIn } from './tree.ts'

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
 * Compares the originals with the tree, and decodes every variant that must be there.
 *
 * @returns the bytes of the variants, by extension.
 * @throws Error that names what is missing or wrong.
 */
export async function verifyOutput(expected: ExpectedOutput): Promise<Record<string, number>> {
  const { tree, outDir, extensions, changed } = expected
  const sizes: Record<string, number> = Object.fromEntries(extensions.map((extension) => [extension, 0]))
  const problems: string[] = []
  for (const path of await filesIn(tree)) {
    const source = await readFile(join(tree, path))
    const original = path === changed ? change(source) : source
    const written = await readOptional(join(outDir, path))
    if (written === undefined || !written.equals(original)) problems.push(`${path} is not what was built`)
    if (!compressible.test(path) || original.length < smallestFile) continue
    for (const extension of extensions) {
      const variant = await readOptional(join(outDir, path + extension))
      sizes[extension] = (sizes[extension] ?? 0) + (variant?.length ?? 0)
      const problem = problemOf(variant, extension, original)
      if (problem !== undefined) problems.push(`${path}${extension} ${problem}`)
    }
  }
  if (problems.length > 0) throw new Error(`${problems.length} files: ${problems.slice(0, 3).join(', ')}`)
  return sizes
}

function problemOf(variant: Buffer | undefined, extension: string, original: Buffer): string | undefined {
  if (variant === undefined) return 'is missing'
  try {
    const decoded = decoders[extension]?.(variant)
    return decoded !== undefined && original.equals(decoded) ? undefined : 'is not its original'
  } catch (error) {
    return `cannot be decoded (${String(error)})`
  }
}

async function readOptional(path: string): Promise<Buffer | undefined> {
  return await readFile(path).catch(() => undefined)
}
