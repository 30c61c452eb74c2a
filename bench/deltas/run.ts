// Measures a new build of two real applications for returning visitors: the bytes of changed files with brotli, zstd and
// the deltas of `serve-dist publish` (RFC 9842), and the bytes that Chromium received.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type ContentCoding,
  dictionariesOf,
  type Manifest,
  type ManifestFile,
  manifestPath,
} from '@serve-dist/manifest'
import { readManifestFile } from '@serve-dist/manifest/read-build-manifest'
import { openStore, publish, readDeltas } from '@serve-dist/store'
import { Command } from 'commander'
import { markdownTable } from 'markdown-table'
import { ownCommand } from '../serve/bench-directory.ts'
import { selectByName, createNamesParser } from '../serve/option-values.ts'
import { print } from '../serve/progress.ts'
import { type Application, applications, buildStates, states } from './applications.ts'
import { openVisitor, type Visit, type Visitor } from './visitor.ts'

/** A file that the previous build lacks, with the bytes of its bodies. */
interface Change {
  /** Whether the browser has a file that can decode a delta of it. */
  readonly isEligible: boolean
  readonly br: number
  readonly zstd: number
  /** The bytes of the delta, or of the normal body without a delta. */
  readonly delta: number
  readonly inBrowser: number
}

interface Step {
  readonly before: Manifest
  readonly after: Manifest
  readonly place: string
}

interface Options {
  readonly applications: readonly string[]
  readonly node: string
  readonly command: string
  readonly chromium: string
}

const options = new Command('bench:deltas')
  .option('--applications <names>', 'separated by commas (default: all)', createNamesParser(applications), [])
  .option('--node <path>', 'program of Node 24.6 or newer: builds, publishes, serves', process.execPath)
  .option('--command <path>', 'bin/serve-dist.js of a checkout', ownCommand)
  .option('--chromium <path>', 'program of Chromium 130 or newer', '/usr/bin/chromium')
  .parse()
  .opts<Options>()

const headings = ['', 'changed', 'eligible', 'br', 'zstd', 'with deltas', '÷ br', 'in Chromium']
const lines = [[...headings, 'all that changed: br', 'with deltas', 'first page, heads included']]
const scratch = await mkdtemp(join(tmpdir(), 'serve-dist-bench-'))
try {
  for (const application of selectByName(applications, options.applications)) await measure(application)
} finally {
  await rm(scratch, { recursive: true })
}
print(markdownTable(lines, { align: ['l', ...lines.slice(1).map(() => 'r')] }))

async function measure(application: Application): Promise<void> {
  const { name } = application
  const folder = await buildStates(application, options.node)
  const place = join(scratch, name)
  let visitor: Visitor | undefined
  let before: Manifest | undefined
  for (const [state, title] of states.entries()) {
    const build = join(folder, String(state))
    await publish(build, await openStore(place), { deltaBudget: 600_000 })
    const serving = [options.command, '--store', place, '--store-cache', `${place}-cache`]
    visitor ??= await openVisitor(options.chromium, options.node, serving)
    const after = await readManifestFile(join(build, manifestPath))
    const wanted = after.files.map(({ path }) => path).filter((path) => /\.(?:css|js)$/.test(path))
    const visit = await visitor.visit(after.buildId, wanted)
    if (before !== undefined) {
      const changes = await readChanges({ before, after, place }, visit)
      lines.push([`${name}, ${title}`, ...cellsOf(changes), firstPage(visit)])
    }
    before = after
  }
  await visitor?.close()
}

async function readChanges({ before, after, place }: Step, visit: Visit): Promise<readonly Change[]> {
  const document = await readDeltas(await openStore(place), after.buildId)
  const [dictionaries, own] = [dictionariesOf(before), dictionariesOf(after)]
  const known = new Set(before.files.map(({ sha256 }) => sha256))
  return after.files
    .filter(({ sha256 }) => !known.has(sha256))
    .map((file): Change => {
      const { stem = '' } = file
      const old = own.get(stem)?.file === file ? dictionaries.get(stem)?.file : undefined
      const { dcz, dcb } = (old && document?.files.get(file.sha256)?.get(old.sha256)) ?? {}
      const br = sizeAs(file, 'br')
      return {
        isEligible: old !== undefined,
        br,
        zstd: sizeAs(file, 'zstd'),
        delta: Math.min(dcz?.size ?? br, dcb?.size ?? br),
        inBrowser: visit.all.get(file.path)?.body ?? 0,
      }
    })
}

function sizeAs({ size, variants }: ManifestFile, coding: ContentCoding): number {
  return variants.find((variant) => variant.coding === coding)?.size ?? size
}

function cellsOf(changes: readonly Change[]): string[] {
  const eligible = changes.filter(({ isEligible }) => isEligible)
  const sum = (some: readonly Change[], what: 'br' | 'zstd' | 'delta' | 'inBrowser'): number =>
    some.reduce((total, change) => total + change[what], 0)
  const [br, zstd, delta, inBrowser] = (['br', 'zstd', 'delta', 'inBrowser'] as const).map((what) =>
    sum(eligible, what),
  )
  const ratio = `${((100 * (delta ?? 0)) / (br ?? 0)).toFixed(1)} %`
  const all = [sum(changes, 'br'), sum(changes, 'delta')]
  const cells = [changes.length, eligible.length, br, zstd, delta, ratio, inBrowser, ...all]
  return cells.map((cell) => (cell ?? '').toLocaleString('en'))
}

function firstPage({ page }: Visit): string {
  const arrivals = [...page.values()]
  const bytes = arrivals.reduce((total, { whole }) => total + whole, 0)
  const deltas = arrivals.filter(({ coding }) => coding.startsWith('dc')).length
  return `${bytes.toLocaleString('en')}: ${arrivals.length} files, ${deltas} deltas`
}
