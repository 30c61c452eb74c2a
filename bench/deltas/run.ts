// What a returning visitor of two real applications pays for a new build: every file that changed, as brotli, as zstd, and
// as the delta that `serve-dist publish` made against the build before (RFC 9842); beside it what a Chromium really got.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type ContentCoding,
  dictionariesOf,
  type Manifest,
  type ManifestFile,
  manifestPath,
  parseManifest,
} from '@serve-dist/manifest'
import { openStore, publish, readDeltas } from '@serve-dist/store'
import { Command } from 'commander'
import { benchDirectory } from '../serve/bench-directory.ts'
import { choose, namesOf } from '../serve/option-values.ts'
import { print } from '../start/measure-start.ts'
import { applications, buildStates, states } from './applications.ts'
import { openVisitor, type Visit, type Visitor } from './visitor.ts'

/** Bytes on the way to a visitor, without heads. */
interface Weight {
  readonly size: number
  readonly br: number
  readonly zstd: number
  /** What is sent without a delta, where there is none. */
  readonly delta: number
  readonly inBrowser: number
}

/** A file that the build before has not. */
interface Change extends Weight {
  readonly path: string
  /** Whether the browser has a file to decode a delta of it against. */
  readonly isEligible: boolean
  /** What the browser says that it got. */
  readonly coding: string
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
  .option('--applications <names>', 'separated by commas; by default all', namesOf(applications), [])
  .option('--node <path>', 'program of Node 24.6 or newer: builds, publishes, serves', process.execPath)
  .option(
    '--command <path>',
    'bin/serve-dist.js',
    join(benchDirectory, '../packages/server/bin/serve-dist.js'),
  )
  .option('--chromium <path>', 'program of Chromium 130 or newer', '/usr/bin/chromium')
  .parse()
  .opts<Options>()

const scratch = await mkdtemp(join(tmpdir(), 'serve-dist-bench-'))
try {
  for (const { name } of choose(applications, options.applications)) await measure(name)
} finally {
  await rm(scratch, { recursive: true })
}

async function measure(name: string): Promise<void> {
  const folders = await Promise.all(
    applications
      .filter((application) => application.name === name)
      .map((application) => buildStates(application, options.node)),
  )
  const place = join(scratch, name)
  let visitor: Visitor | undefined
  let before: Manifest | undefined
  for (const [state, title] of states.entries()) {
    const build = join(folders.join(''), String(state))
    await publish(build, await openStore(place), { deltaBudget: 600_000 })
    const serving = [options.command, '--store', place, '--store-cache', `${place}-cache`]
    visitor ??= await openVisitor(options.chromium, options.node, serving)
    const after = parseManifest(await readFile(join(build, manifestPath), 'utf8'))
    const wanted = after.files.map(({ path }) => path).filter((path) => /\.(?:css|js)$/.test(path))
    const visit = await visitor.visit(after.buildId, wanted)
    if (before !== undefined) await report(`${name}, ${title}`, { before, after, place }, visit)
    before = after
  }
  await visitor?.close()
}

async function report(title: string, { before, after, place }: Step, visit: Visit): Promise<void> {
  const document = await readDeltas(await openStore(place), after.buildId)
  const [dictionaries, own] = [dictionariesOf(before), dictionariesOf(after)]
  const known = new Set(before.files.map(({ sha256 }) => sha256))
  const changes = after.files
    .filter(({ sha256 }) => !known.has(sha256))
    .map((file): Change => {
      const { stem = '' } = file
      const old = own.get(stem)?.file === file ? dictionaries.get(stem)?.file : undefined
      const { dcz, dcb } = (old && document?.files.get(file.sha256)?.get(old.sha256)) ?? {}
      const [br, zstd] = [sizeAs(file, 'br'), sizeAs(file, 'zstd')]
      const { body = 0, coding = '' } = visit.all.get(file.path) ?? {}
      return {
        path: file.path,
        isEligible: old !== undefined,
        size: file.size,
        br,
        zstd,
        delta: Math.min(dcz?.size ?? br, dcb?.size ?? br),
        inBrowser: body,
        coding,
      }
    })
    .toSorted((one, other) => other.br - one.br)
  const eligible = changes.filter(({ isEligible }) => isEligible)
  const others = changes.filter(({ isEligible }) => !isEligible)
  print(`\n### ${title}\n\n| changed | bytes | br | zstd | delta | delta ÷ br | in Chromium | as |`)
  print('| ------- | ----: | -: | ---: | ----: | ---------: | ----------: | -- |')
  for (const change of changes) {
    print(row(change.isEligible ? change.path : `(${change.path})`, change, change.coding))
  }
  print(row(`**${eligible.length} eligible**`, sum(eligible)))
  print(row(`(${others.length} not eligible)`, sum(others)))
  print(row('**all that changed**', sum(changes)))
  const first = [...visit.page.values()]
  const [bodies, wholes] = (['body', 'whole'] as const).map((what) =>
    first.reduce((total, arrival) => total + arrival[what], 0),
  )
  const codings = first.filter(({ coding }) => coding.startsWith('dc')).length
  print(
    `\nThe first page loaded ${first.length} files again, ${codings} as deltas: ${bodies} bytes, with heads ${wholes}.`,
  )
}

function sizeAs({ size, variants }: ManifestFile, coding: ContentCoding): number {
  return variants.find((variant) => variant.coding === coding)?.size ?? size
}

function sum(weights: readonly Weight[]): Weight {
  const of = (what: (weight: Weight) => number): number =>
    weights.reduce((total, weight) => total + what(weight), 0)
  return {
    size: of(({ size }) => size),
    br: of(({ br }) => br),
    zstd: of(({ zstd }) => zstd),
    delta: of(({ delta }) => delta),
    inBrowser: of(({ inBrowser }) => inBrowser),
  }
}

function row(title: string, { size, br, zstd, delta, inBrowser }: Weight, coding = ''): string {
  const ratio = br === 0 ? '' : `${((100 * delta) / br).toFixed(1)} %`
  const cells = [title, size, br, zstd, delta, ratio, inBrowser, coding]
  return `| ${cells.map((each) => each.toLocaleString('en')).join(' | ')} |`
}
