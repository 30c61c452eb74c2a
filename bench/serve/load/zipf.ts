import { createHash } from 'node:crypto'
import { cutScript, writeFixtureSite } from './fixtures.ts'
import type { PreparedWorkload } from './workload.ts'

const fileCount = 10_000
const drawCount = 50_000
const smallest = 512
const largest = 24 * 1024

/** Makes 10,000 files of 512 bytes to 24 KB, the n-th as popular as 1/n. */
export async function prepareZipf(): Promise<PreparedWorkload> {
  const files = new Map<string, Buffer>()
  for (let index = 0; index < fileCount; index += 1) {
    const size = Math.round(smallest * (largest / smallest) ** fraction(`size ${index}`))
    files.set(pathOf(index), await cutScript(index * 7919, size))
  }
  return {
    directory: await writeFixtureSite('zipf', files),
    requests: Array.from({ length: fileCount }, (_, index) => ({
      target: `/${pathOf(index)}`,
      file: pathOf(index),
      accept: ['zstd', 'br', 'gzip'],
    })),
    sequence: drawByPopularity(),
  }
}

function pathOf(index: number): string {
  return `assets/${String(index % 100).padStart(2, '0')}/chunk-${index}.js`
}

function drawByPopularity(): number[] {
  const sums: number[] = []
  for (let rank = 1, sum = 0; rank <= fileCount; rank += 1) sums.push((sum += 1 / rank))
  const total = sums.at(-1) ?? 0
  return Array.from({ length: drawCount }, (_, index) => {
    const draw = fraction(`draw ${index}`) * total
    return sums.findIndex((sum) => sum >= draw)
  })
}

/** Returns a number from 0 up to 1, the same for the same name. */
function fraction(name: string): number {
  return createHash('sha256').update(name).digest().readUInt32BE() / 2 ** 32
}
