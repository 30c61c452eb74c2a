// From which size on a delta of a small file pays: what it saves beside brotli, less what its fields cost.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, constants, zstdCompressSync } from 'node:zlib'
import {
  isCompressible,
  type Manifest,
  type ManifestFile,
  manifestPath,
  parseManifest,
} from '@serve-dist/manifest'
import { Command } from 'commander'
import { build } from 'vite'
import { filesIn, prepareTree } from '../build/tree.ts'
import { benchDirectory } from '../serve/bench-directory.ts'
import { median } from '../serve/statistics.ts'
import { print } from '../start/measure-start.ts'
import { applications, buildStates, states } from './applications.ts'
import { type FieldCost, markCost, offerCost } from './field-cost.ts'

/** A file of two builds. */
interface Pair {
  readonly before: Buffer
  readonly after: Buffer
}

interface Sizes {
  readonly size: number
  readonly br: number
  readonly zstd: number
  readonly delta: number
}

const { node } = new Command('bench:deltas-floor')
  .description('It runs with a Node whose zstd knows dictionaries: 24.6 or newer.')
  .option('--node <path>', 'program of Node 22.12 or newer that builds', process.execPath)
  .parse()
  .opts<{ readonly node: string }>()

const largest = 4096
const bounds = [200, 256, 300, 350, 400, 500, 600, 700, 800, 1000, 1300, 1600, 2000, 3000, largest]
const mark = await markCost()
const offer = await offerCost()
print(`A mark: ${formatCost(mark)}. An offer: ${formatCost(offer)}.\n`)

const builds: Buffer[][] = []
const changed: Pair[] = []
for (const application of applications) {
  const folder = await buildStates(application, node)
  const contents: ReadonlyMap<string, Buffer>[] = []
  for (const state of states.keys()) contents.push(await smallFiles(join(folder, String(state))))
  const [first = new Map<string, Buffer>()] = contents
  builds.push([...first.values()])
  for (const [state, files] of contents.slice(1).entries()) {
    for (const [stem, after] of files) {
      const before = contents[state]?.get(stem)
      if (before !== undefined && !before.equals(after)) changed.push({ before, after })
    }
  }
}
const examples = ['deploys', 'editor', 'multi-page', 'spa'].map((name) => ({
  name: `deltas-example-${name}`,
  fill: async (outDir: string) => {
    const root = join(benchDirectory, '../examples', name)
    await build({ root, logLevel: 'error', build: { outDir, emptyOutDir: true } })
  },
}))
for (const example of examples) builds.push(await smallScripts(await prepareTree(example)))

report('Files of the two applications that changed', changed)
report(
  'Every file of them and of four examples, with another hash of 8 characters',
  builds.flat().map(rehash),
)
report('Cut out of their scripts, with another hash of 8 characters', cuts(builds.flat()).map(rehash))

/** Those that a browser may keep, by their stems; without those that share one. */
async function smallFiles(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const { files }: Manifest = parseManifest(await readFile(join(folder, manifestPath), 'utf8'))
  const small = files.filter(
    ({ stem, mediaType, size }) => stem !== undefined && size < largest && isCompressible(mediaType),
  )
  const alone = small.filter(({ stem }) => files.filter((file) => file.stem === stem).length === 1)
  const entries = alone.map(
    async ({ stem = '', path }: ManifestFile) => [stem, await readFile(join(folder, path))] as const,
  )
  return new Map(await Promise.all(entries))
}

async function smallScripts(folder: string): Promise<Buffer[]> {
  const paths = (await filesIn(folder)).filter((path) => /\.(?:css|js)$/.test(path))
  const contents = await Promise.all(paths.map((path) => readFile(join(folder, path))))
  return contents.filter(({ length }) => length < largest)
}

/** Beginnings of 200 to 2,000 bytes. */
function cuts(files: readonly Buffer[]): Buffer[] {
  const long = files.filter(({ length }) => length >= 2000)
  return bounds.filter((size) => size <= 2000).flatMap((size) => long.map((file) => file.subarray(0, size)))
}

/** The file as it is, and with 8 other bytes in its first import, or in its middle. */
function rehash(before: Buffer): Pair {
  const after = Buffer.from(before)
  const place = /-[\w-]{8}\.js/.exec(before.toString('latin1'))?.index ?? before.length >> 1
  after.write(randomBytes(6).toString('base64url'), place + 1, 'latin1')
  return { before, after }
}

function sizesOf({ before, after }: Pair): Sizes {
  const level = { params: { [constants.ZSTD_c_compressionLevel]: 19 } }
  return {
    size: after.length,
    br: brotliCompressSync(after, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: after.length } }).length,
    zstd: zstdCompressSync(after, level).length,
    delta: 40 + zstdCompressSync(after, { ...level, dictionary: before }).length,
  }
}

function report(title: string, pairs: readonly Pair[]): void {
  const all = pairs.map(sizesOf)
  print(`${title}: ${pairs.length}\n`)
  print(
    '| bytes | files | br | zstd | dcz | saved | net, HTTP/2 | net, HTTP/1.1 | returns that pay a mark | losing |',
  )
  print(
    '| ----- | ----: | -: | ---: | --: | ----: | ----------: | ------------: | ----------------------: | -----: |',
  )
  for (const [index, from] of bounds.slice(0, -1).entries()) {
    const to = bounds[index + 1] ?? largest
    const sizes = all.filter(({ size }) => size >= from && size < to)
    if (sizes.length === 0) continue
    const of = (what: (each: Sizes) => number): number => Math.round(medianOf(sizes.map(what)))
    const net = (cost: 'http1' | 'http2') => (each: Sizes) => savedOf(each) - offer[cost] - mark[cost]
    const returns = mark.http2 / of(net('http2'))
    const cells = [
      `${from}–${to - 1}`,
      sizes.length,
      ...[({ br }: Sizes) => br, ({ zstd }: Sizes) => zstd, ({ delta }: Sizes) => delta].map(of),
      of(savedOf),
      of(net('http2')),
      of(net('http1')),
      returns > 0 ? returns.toFixed(2) : 'never',
      sizes.filter((each) => net('http2')(each) <= 0).length,
    ]
    print(`| ${cells.join(' | ')} |`)
  }
  print('')
}

/** What would be sent else is the file itself below 256 bytes, of which no variants are made. */
function savedOf({ size, br, delta }: Sizes): number {
  return (size < 256 ? size : Math.min(size, br)) - delta
}

function medianOf(values: readonly number[]): number {
  const [first, ...others] = values
  return first === undefined ? Number.NaN : median([first, ...others])
}

function formatCost({ http1, http2 }: FieldCost): string {
  return `${http2.toFixed(1)} bytes over HTTP/2, ${http1} over HTTP/1.1`
}
