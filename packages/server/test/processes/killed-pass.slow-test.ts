import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import {
  OperatorError,
  type Manifest,
  manifestPath,
  parseManifest,
  stringifyManifest,
  variantPath,
} from '@serve-dist/manifest'
import { describeDirectory, precompress, type PrecompressOptions } from '@serve-dist/precompress'
import { describe, expect, test } from 'vitest'
import { loadSite } from '../../src/load/load-site.ts'
import { buildFixture, type FixtureFiles, writeFixture } from '../support/build-fixture.ts'
import { createRandom } from '../support/soak/soak-random.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const seed = Number(process.env['SERVE_DIST_SEED'])
const killsEach = 24

const script = 'export const answer = () => "forty-two";\n'.repeat(100)
const first = {
  'index.html': '<!doctype html>\n<title>first</title>\n'.repeat(50),
  'assets/app.js': script,
  'assets/gone.js': `${script}//`,
  'photo.png': 'no text',
}
const second = {
  'index.html': '<!doctype html>\n<title>second</title>\n'.repeat(50),
  'assets/app.js': script.replaceAll('forty', 'fifty'),
  'assets/new.css': '.answer { color: red }\n'.repeat(100),
}

/** Enough files to have threads write most of them. */
const many = Object.fromEntries(
  Array.from({ length: 90 }, (_, index) => [`${index}.js`, `${script.repeat(1 + (index % 2))}//${index}`]),
)

interface Scenario {
  /** Creates the folder as the compression step finds it. */
  readonly prepare: () => Promise<string>
  /** The files that the killed build writes before its compression step. */
  readonly writes?: FixtureFiles
  readonly options: PrecompressOptions
  /**
   * Whether the server may reject the folder before the interim manifest exists, because the earlier
   * originals are gone.
   */
  readonly mayRefuse: boolean
}

const scenarios: Record<string, Scenario> = {
  'the first of a folder': {
    prepare: async () => await writeFixture(first),
    options: {},
    mayRefuse: false,
  },
  'over the same originals, in other codings': {
    prepare: async () => await buildFixture(first, { codings: ['br', 'gzip'] }),
    options: { codings: ['zstd', 'br'] },
    mayRefuse: false,
  },
  'over the same originals, by another codec': {
    prepare: async () => await recodeBrotli(await buildFixture(first)),
    options: {},
    mayRefuse: false,
  },
  'over many files, in another coding': {
    prepare: async () => await buildFixture(many, { codings: ['gzip'] }),
    options: { codings: ['br'] },
    mayRefuse: false,
  },
  'over originals that a later build has overwritten': {
    prepare: async () => {
      const folder = await buildFixture(first)
      await cp(await writeFixture(second), folder, { recursive: true })
      return folder
    },
    options: { codings: ['br'] },
    mayRefuse: true,
  },
  'of a build that overwrites the files of the one before': {
    prepare: async () => await buildFixture(first),
    writes: second,
    options: {},
    mayRefuse: true,
  },
}

/** Creates a build whose variants an older codec made: other bytes under the same names. */
async function recodeBrotli(folder: string): Promise<string> {
  const manifest = await manifestOf(folder)
  const files = await Promise.all(
    manifest.files.map(async (file) => {
      const params = { [constants.BROTLI_PARAM_QUALITY]: 5 }
      const bytes = brotliCompressSync(await readFile(join(folder, file.path)), { params })
      if (!file.variants.some(({ coding }) => coding === 'br')) return file
      await writeFile(join(folder, variantPath(file.path, 'br')), bytes)
      const recoded = { coding: 'br', size: bytes.length, sha256: digestOf(bytes) } as const
      const variants = file.variants.map((variant) => (variant.coding === 'br' ? recoded : variant))
      return { ...file, variants }
    }),
  )
  await writeFile(join(folder, manifestPath), stringifyManifest({ ...manifest, files }))
  return folder
}

async function manifestOf(folder: string): Promise<Manifest> {
  const json = await readFile(join(folder, manifestPath), 'utf8').catch(() => undefined)
  return json === undefined ? await describeDirectory(folder) : parseManifest(json)
}

/** Everything that a manifest states about bytes. */
interface Claims {
  readonly originals: readonly string[]
  /** Each with its original. */
  readonly variants: readonly string[]
}

function claimsOf({ files }: Manifest): Claims {
  return {
    originals: files.map(({ path, sha256 }) => `${path} ${sha256}`),
    variants: files.flatMap((file) =>
      file.variants.map(({ coding, sha256 }) => `${file.path} ${file.sha256} ${coding} ${sha256}`),
    ),
  }
}

/**
 * Returns what the server finds in the folder: the earlier build, the next one, an explained error or a
 * fault.
 */
async function classifyFolder(
  folder: string,
  { before, after }: Record<'before' | 'after', Claims>,
): Promise<string> {
  try {
    await loadSite(folder, { verify: 'hash' })
  } catch (error) {
    const isClear =
      error instanceof OperatorError && /differs? from the manifest|did not finish/.test(error.message)
    return isClear ? 'refused' : String(error)
  }
  const { originals, variants } = claimsOf(await manifestOf(folder))
  const known = new Set([...before.variants, ...after.variants])
  const wrong = variants.filter((variant) => !known.has(variant))
  if (wrong.length > 0) return `wrong variants: ${wrong.join(', ')}`
  if (originals.join() === after.originals.join()) return 'next'
  return originals.join() === before.originals.join() ? 'earlier' : `a mixture: ${originals.join(', ')}`
}

/**
 * Tells whether a variant that only the next build has is at its final path. Then the interim manifest must
 * exist, too.
 */
async function needsInterimManifest(folder: string, after: Manifest, before: Manifest): Promise<boolean> {
  const earlier = new Set(variantsOf(before))
  for (const variant of variantsOf(after)) {
    const [path = '', sha256] = variant.split(' ')
    const bytes = await readFile(join(folder, path)).catch(() => undefined)
    if (bytes !== undefined && !earlier.has(variant) && digestOf(bytes) === sha256) return true
  }
  return false
}

/** Returns variants with their digests. */
function variantsOf({ files }: Manifest): string[] {
  return files.flatMap((file) =>
    file.variants.map(({ coding, sha256 }) => `${variantPath(file.path, coding)} ${sha256}`),
  )
}

/** Runs the program until it ends or is killed. Returns the number of changes if it completed. */
async function compress(folder: string, { writes, options }: Scenario, killAt?: number): Promise<number> {
  const cacheDirectory = await temporaryDirectory()
  const child = spawn(
    process.execPath,
    [
      fileURLToPath(new URL('../support/compress-folder.mjs', import.meta.url)),
      folder,
      JSON.stringify({ ...options, cacheDirectory }),
      JSON.stringify(writes ?? {}),
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        // The module must also load in threads.
        NODE_OPTIONS: `--import ${new URL('../support/kill-at-change.mjs', import.meta.url).href}`,
        ...(killAt !== undefined && { KILL_AT: String(killAt) }),
      },
    },
  )
  const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  expect(killAt === undefined ? code : signal).toBe(killAt === undefined ? 0 : 'SIGKILL')
  return Number(output)
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
    .toSorted((a, b) => (a < b ? -1 : 1))
}

// Windows has no SIGKILL.
describe.skipIf(process.platform === 'win32')(`a killed compression step (SERVE_DIST_SEED=${seed})`, () => {
  test.each(Object.entries(scenarios))(
    '%s leaves a folder that the server serves correctly, and the next run completes it',
    async (_name, scenario) => {
      const whole = await scenario.prepare()
      const manifestBefore = await manifestOf(whole)
      const before = claimsOf(manifestBefore)
      const changes = await compress(whole, scenario)
      const manifestAfter = await manifestOf(whole)
      const after = claimsOf(manifestAfter)
      const names = await namesIn(whole)
      const random = createRandom(seed)
      const outcomes: Record<string, number> = {}

      for (let kill = 0; kill < killsEach; kill += 1) {
        // Kill half of the runs while they rename files into place.
        const killAt = random.integer(changes / (1 + (kill % 2))) + (kill % 2) * Math.floor(changes / 2)
        const folder = await scenario.prepare()
        await compress(folder, scenario, killAt)

        const outcome = await classifyFolder(folder, { before, after })
        const early = ['earlier', 'next', ...(scenario.mayRefuse ? ['refused'] : [])]
        const isLate = await needsInterimManifest(folder, manifestAfter, manifestBefore)
        const allowed = isLate ? ['next'] : early
        expect(allowed, `killed at change ${killAt} of ${changes}`).toContain(outcome)
        const kind = `${outcome}${isLate ? ', as it must be' : ''}`
        outcomes[kind] = (outcomes[kind] ?? 0) + 1

        await cp(await writeFixture(scenario.writes ?? {}), folder, { recursive: true })
        const { warnings, manifest } = await precompress(folder, scenario.options)
        expect([warnings, claimsOf(manifest), await namesIn(folder)]).toEqual([[], after, names])
      }
      console.log(`${changes} changes:`, outcomes)
    },
  )
})
