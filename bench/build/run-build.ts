import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { text } from 'node:stream/consumers'
import type { Contender } from './contender.ts'
import type { ProcessCost } from './measure-process.ts'
import { listFiles } from './tree.ts'
import { verifyOutput } from './verify-output.ts'

/** The measurements of a build. */
export interface BuildSample extends ProcessCost {
  readonly wallSeconds: number
  /** Bytes of the variants, by extension. */
  readonly variantBytes: Readonly<Record<string, number>>
}

/** A build to run. */
export interface BuildRun {
  readonly contender: Contender
  readonly tree: string
  /** The folder that keeps the cache of this tree from one build to the next. */
  readonly kept: string
}

const program = new URL('build-program.js', import.meta.url).pathname
const measure = new URL('measure-process.js', import.meta.url).href

/** Runs a build in its own process and folders, and checks every file that it wrote. */
export async function runBuild({ contender, tree, kept }: BuildRun): Promise<BuildSample> {
  const folder = await mkdtemp(join(tmpdir(), 'serve-dist-bench-'))
  const outDir = join(folder, 'dist')
  const changed = contender.isChanged === true ? await chunkToChange(tree) : undefined
  // The plugin keeps its cache next to the nearest package.json above the output.
  const cache = join(folder, 'node_modules/.cache/serve-dist')
  const parameters = [JSON.stringify(contender), tree, outDir, join(folder, 'vite')]
  try {
    await writeFile(join(folder, 'package.json'), '{}')
    if (contender.isWarm === true && !(await takeCache(kept, cache))) {
      await runProgram(parameters, join(folder, 'cost.json'))
    }
    const sample = await runProgram(
      changed === undefined ? parameters : [...parameters, changed],
      join(folder, 'cost.json'),
    )
    if (contender.fillsCache === true) await copy(cache, join(kept, 'cache'))
    const { extensions } = contender
    return { ...sample, variantBytes: await verifyOutput({ tree, outDir, extensions, changed }) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Copies the kept cache. Returns whether there was one. */
async function takeCache(kept: string, cache: string): Promise<boolean> {
  if ((await readdir(kept)).length === 0) return false
  await copy(join(kept, 'cache'), cache)
  return true
}

async function copy(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true, force: true, preserveTimestamps: true })
}

/** Returns the script in the middle, sorted by name: a language of the editor. In other trees all scripts are alike. */
async function chunkToChange(tree: string): Promise<string | undefined> {
  const scripts = (await listFiles(tree)).filter((path) => path.endsWith('.js'))
  return scripts[scripts.length >> 1]
}

async function runProgram(
  parameters: readonly string[],
  costFile: string,
): Promise<ProcessCost & { readonly wallSeconds: number }> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, ['--import', measure, program, ...parameters], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_ENV: 'production', NO_COLOR: '1', SERVE_DIST_MEASURE: costFile },
  })
  const [, complaints, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  const wallSeconds = (performance.now() - startedAt) / 1000
  if (code !== 0) throw new Error(`exit code ${String(code)}: ${complaints.trim().slice(-500)}`)
  const cost: ProcessCost = JSON.parse(await readFile(costFile, 'utf8'))
  return { ...cost, wallSeconds }
}
