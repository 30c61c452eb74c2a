import { gzipSync } from 'node:zlib'
import { cutScript, noise, writeFixtureSite } from './fixtures.ts'
import type { Workload, WorkloadRequest } from './workload.ts'

const kilobytes = [1, 10, 30, 50, 100, 1024]

/** Every size as JavaScript, and as bytes that nothing can compress. */
export const sizes: readonly Workload[] = kilobytes.flatMap((size) => [
  workloadOf(`script-${size}k`, `${size} KB of JavaScript`, `assets/script-${size}k.js`),
  workloadOf(`image-${size}k`, `${size} KB that cannot be compressed`, `assets/image-${size}k.png`),
])

function workloadOf(name: string, title: string, file: string): Workload {
  return {
    name,
    title,
    // With many connections no answer of the largest is whole after a second.
    ...(file.includes('1024k') && { leastSeconds: 3 }),
    prepare: async () => oneFile(await writeSizes(), file, ['zstd', 'br', 'gzip']),
  }
}

async function writeSizes(): Promise<string> {
  const files = new Map<string, Buffer>()
  for (const size of kilobytes) {
    files.set(`assets/script-${size}k.js`, await cutScript(size * 1000, size * 1024))
    files.set(`assets/image-${size}k.png`, noise(size, size * 1024))
  }
  return writeFixtureSite('sizes', files)
}

const variantSize = 16 * 1024

/** One variant of 16 KB, gzip so that every peer has it: how near a handler comes to the floor. */
export const variant: Workload = {
  name: 'variant16k',
  title: 'A 16 KB variant, Accept-Encoding: gzip',
  async prepare() {
    const file = 'assets/variant.js'
    const directory = await writeFixtureSite('variant', new Map([[file, await cutCompressible()]]))
    return oneFile(directory, file, ['gzip'])
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

function oneFile(
  directory: string,
  file: string,
  accept: WorkloadRequest['accept'],
): Awaited<ReturnType<Workload['prepare']>> {
  return {
    directory,
    requests: [{ target: `/${file}`, file, method: 'GET', accept }],
    sequence: [0],
    newConnections: false,
  }
}
