import { cutScript } from '../fixture-corpus.ts'
import { writeFixtureSite } from '../fixture-site.ts'
import { noise } from '../noise.ts'
import type { Workload } from '../workload.ts'

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
    // So many of the largest at once that none is there in a second.
    ...(file.includes('1024k') && { leastSeconds: 3 }),
    prepare: async () => ({
      directory: await writeSizes(),
      requests: [{ target: `/${file}`, file, method: 'GET', accept: ['zstd', 'br', 'gzip'] }],
      sequence: [0],
      newConnections: false,
    }),
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
