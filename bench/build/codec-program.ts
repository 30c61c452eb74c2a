// Measures the CPU time of the codecs for the files of a tree in every coding, in one thread. If it measures only a sample,
// it scales the time by the bytes.
import { randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { compressible, minimumFileSize } from './contender.ts'
import { listFiles } from './tree.ts'

/** The JSON that the program prints. */
export interface CodecSeconds {
  /** CPU time of gzip and brotli. */
  readonly codecSeconds: number
  readonly zstdSeconds: number
}

/** The zstd codec of the compression step, because Node 20 has no zstd. */
interface EncodeModule {
  readonly encode: (bytes: Uint8Array, coding: 'zstd') => Promise<Uint8Array>
}
const ours = new URL('codecs/encode.js', import.meta.resolve('@serve-dist/precompress'))
const { encode }: EncodeModule = await import(ours.href)
// The time does not include loading the codec.
await encode(randomBytes(10_000), 'zstd')

const [tree = '', sample] = process.argv.slice(2)
const files: { readonly path: string; readonly size: number }[] = []
for (const path of (await listFiles(tree)).filter((name) => compressible.test(name))) {
  const { size } = await stat(join(tree, path))
  if (size >= minimumFileSize) files.push({ path, size })
}
const chosen = sample === undefined ? files : files.slice(0, Number(sample))
const scale = bytesOf(files) / bytesOf(chosen)

const microseconds = { codecs: 0, zstd: 0 }
for (const { path } of chosen) {
  const bytes = await readFile(join(tree, path))
  const window = Math.min(23, Math.max(10, Math.ceil(Math.log2(bytes.length + 16))))
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
  codecSeconds: (microseconds.codecs / 1e6) * scale,
  zstdSeconds: (microseconds.zstd / 1e6) * scale,
}
process.stdout.write(`${JSON.stringify(seconds)}\n`)

function bytesOf(some: readonly { readonly size: number }[]): number {
  return some.reduce((sum, { size }) => sum + size, 0)
}

function passed(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since)
  return user + system
}
