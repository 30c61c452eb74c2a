// The codecs' own CPU time: every file of a tree in every coding, one after the other, in one thread.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { compressible, smallestFile } from './contender.ts'
import { filesIn } from './tree.ts'

/** What is printed, as JSON. */
export interface CodecSeconds {
  /** Of gzip and brotli. */
  readonly codecSeconds: number
  readonly zstdSeconds: number
}

/** Node 20 has no zstd: the one that the passes use, whichever Node it is. */
interface EncodeModule {
  readonly createEncode: () => (bytes: Uint8Array, coding: 'zstd') => Promise<Uint8Array>
}
const ours = new URL('encode.js', import.meta.resolve('@serve-dist/precompress'))
const { createEncode }: EncodeModule = await import(ours.href)
const encode = createEncode()
// What it takes to be loaded is not of the codec.
await encode(randomBytes(10_000), 'zstd')

const [tree = ''] = process.argv.slice(2)
const microseconds = { codecs: 0, zstd: 0 }
for (const path of (await filesIn(tree)).filter((name) => compressible.test(name))) {
  const bytes = await readFile(join(tree, path))
  if (bytes.length < smallestFile) continue
  const window = Math.min(24, Math.max(10, Math.ceil(Math.log2(bytes.length + 16))))
  const before = process.cpuUsage()
  gzipSync(bytes, { level: 9 })
  brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      [constants.BROTLI_PARAM_LGWIN]: window,
    },
  })
  microseconds.codecs += passed(before)
  const beforeZstd = process.cpuUsage()
  await encode(bytes, 'zstd')
  microseconds.zstd += passed(beforeZstd)
}
const seconds: CodecSeconds = {
  codecSeconds: microseconds.codecs / 1e6,
  zstdSeconds: microseconds.zstd / 1e6,
}
process.stdout.write(`${JSON.stringify(seconds)}\n`)

function passed(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since)
  return user + system
}
