import { gzipSync } from 'node:zlib'
import { cutScript } from '../fixture-corpus.ts'
import { writeFixtureSite } from '../fixture-site.ts'
import type { Workload } from '../workload.ts'

const variantSize = 16 * 1024

/** One variant of 16 KB, gzip so that every peer has it: how near a handler comes to the floor. */
export const variant: Workload = {
  name: 'variant16k',
  title: 'A 16 KB variant, Accept-Encoding: gzip',
  async prepare() {
    const file = 'assets/variant.js'
    const directory = await writeFixtureSite('variant', new Map([[file, await cutCompressible()]]))
    return {
      directory,
      requests: [{ target: `/${file}`, file, method: 'GET', accept: ['gzip'] }],
      sequence: [0],
      newConnections: false,
    }
  },
}

/** The longest script whose gzip form is not above the size wanted. */
async function cutCompressible(): Promise<Buffer> {
  let fits = variantSize
  let tooLong = 16 * variantSize
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2)
    if (gzipSync(await cutScript(0, middle), { level: 9 }).length <= variantSize) fits = middle
    else tooLong = middle
  }
  return cutScript(0, fits)
}
