// The codecs' own CPU time: every file of a tree in every coding, one after the other, in one thread.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { compressible, smallestFile } from './contender.ts'
import { filesIn } from './tree.ts'

const [tree = ''] = process.argv.slice(2)
let microseconds = 0
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
  const { user, system } = process.cpuUsage(before)
  microseconds += user + system
}
process.stdout.write(`${microseconds / 1e6}\n`)
