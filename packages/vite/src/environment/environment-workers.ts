import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { relative, sep } from 'node:path'

/** What the bundle of a worker does with the environment. */
interface WorkerBundle {
  /** The modules that import it. */
  readonly importers: readonly string[]
  /** What its first script imports it by. */
  readonly url: string
  /** Whether no other script of it does. */
  readonly isInFirstOnly: boolean
  /** Whether the script that the worker starts from is a module: it imports, or says `import.meta`. */
  readonly isModule: boolean
}

/** A place that starts a worker. */
export interface FoundStart {
  /** The module in which it stands. */
  readonly module: string
  /** The file that the worker starts from. */
  readonly file: string
  /** From 1. */
  readonly line: number
  /** `file`: of a module. `classic`: of a classic script. `blob`, `data`: of the worker's text in such a URL. */
  readonly kind: 'file' | 'classic' | 'blob' | 'data'
  /** Whether it stands in a worker. */
  readonly isNested: boolean
}

/** What a build knows of the workers that may import the environment. */
export interface EnvironmentWorkers {
  /** By the file that the worker starts from. */
  readonly bundles: Map<string, WorkerBundle>
  /** By `startsKey` of the module that starts them, or of Vite's module of such a worker. */
  readonly starts: Map<string, readonly FoundStart[]>
}

/** How workers are built. */
export interface WorkerRules {
  readonly root: string
  /** Vite's `base`, where it names another host. */
  readonly foreignBase: string | undefined
  /** Vite's `worker.format`, and whether the user chose it. */
  readonly format: string
  readonly isFormatChosen: boolean
}

/** What cannot work, each with its file and line. */
export function workerProblems({ bundles, starts }: EnvironmentWorkers, rules: WorkerRules): string[] {
  const problems = new Set<string>()
  const importLines = ({ importers }: WorkerBundle): string[] =>
    importers.map((module) => placeOfImport(rules.root, module))
  for (const bundle of bundles.values()) {
    if (rules.format === 'es' || bundle.importers.length === 0) continue
    for (const place of importLines(bundle))
      problems.add(
        `${place}: a worker imports it, which takes a module, and Vite's option worker.format is '${rules.format}'; set it to 'es', or leave it out`,
      )
  }
  for (const start of [...starts.values()].flat()) {
    const bundle = bundles.get(start.file)
    const problem = bundle && startProblem(start, bundle, rules)
    if (bundle === undefined || problem === undefined) continue
    const lines = importLines(bundle).join(', ')
    const imported = lines === '' ? '' : ` (imported in ${lines})`
    problems.add(`${within(rules.root, start.module)}:${start.line}: ${problem}${imported}`)
  }
  return [...problems]
}

function startProblem(
  { kind, isNested }: FoundStart,
  { importers, isModule, isInFirstOnly }: WorkerBundle,
  { foreignBase, isFormatChosen }: WorkerRules,
): string | undefined {
  const isReached = importers.length > 0
  if (kind === 'classic' && isModule && (isReached || !isFormatChosen))
    return "the worker is a module and is started as a classic script; say new Worker(new URL('…', import.meta.url), { type: 'module' })"
  if (!isReached) return undefined
  if (kind === 'data')
    return 'a worker from a data: URL has no origin of its own and can import nothing; leave out ?inline'
  if (kind === 'blob' && !isInFirstOnly)
    return 'an inline worker cannot load the chunk that imports it; leave out ?inline'
  if (kind === 'blob')
    return isNested ? 'an inline worker in a worker has no URL to import from; leave out ?inline' : undefined
  return foreignBase === undefined
    ? undefined
    : `browsers start no worker from another origin (Vite's base is ${foreignBase}), and import maps do not reach into workers; start it by ?worker&inline, or send it the values by postMessage`
}

/** The same module may be of a page and of a worker. */
export function startsKey(module: string, isNested: boolean): string {
  return isNested ? `worker:${module}` : module
}

/** Forgets what a watched build knew of modules that are gone; those of workers are in graphs of their own. */
export function forgetStarts({ starts }: EnvironmentWorkers, modules: ReadonlySet<string>): void {
  for (const [key, found] of starts)
    if (found.every(({ isNested }) => !isNested) && !modules.has(key)) starts.delete(key)
}

/** The line of the code that an offset lies in, in the file as it was before other plugins changed it. */
export function originalLine(code: string, offset: number, map: unknown): number {
  const before = code.slice(0, offset).split('\n')
  const [line, column] = [before.length - 1, before.at(-1)?.length ?? 0]
  const { mappings, sources = [] } = Object(map)
  if (typeof mappings !== 'string' || mappings === '') return line + 1
  const found = new SourceMap({
    version: 3,
    file: '',
    sourceRoot: '',
    names: [],
    sourcesContent: [],
    sources,
    mappings,
  }).findEntry(line, column)
  return 'originalLine' in found ? found.originalLine + 1 : line + 1
}

/** Where a module imports the environment: its file, relative to the root, and the line. */
export function placeOfImport(root: string, module: string): string {
  return `${within(root, module)}:${lineOf(module, importText)}`
}

/** How it stands in the code of whoever imports it. */
export const importText: RegExp = /["'`]virtual:serve-dist\/env["'`]/

/** The line of a module's file in which this text first stands, from 1; a module of a plugin may have no file. */
export function lineOf(module: string, text: RegExp): number {
  const file = fileOf(module)
  const content = existsSync(file) ? readFileSync(file, 'utf8') : ''
  return content.slice(0, Math.max(content.search(text), 0)).split('\n').length
}

/** A module's file: its name without a query. */
export function fileOf(module: string): string {
  return module.replace(/\?.*$/s, '')
}

function within(root: string, module: string): string {
  return relative(root, fileOf(module)).split(sep).join('/')
}
