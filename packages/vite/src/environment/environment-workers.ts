import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { relative, sep } from 'node:path'

/** Facts about the bundle of a worker. */
interface WorkerBundle {
  /** Modules that import the environment. */
  readonly importers: readonly string[]
  /** URL by which the worker's entry imports the environment. */
  readonly url: string
  /** Whether only the entry imports the environment. */
  readonly isInFirstOnly: boolean
  /** Whether the entry is a module: it contains imports or `import.meta`. */
  readonly isModule: boolean
}

/** A place in the code that starts a worker. */
export interface FoundStart {
  /** The module that contains the place. */
  readonly module: string
  /** The worker's entry. */
  readonly file: string
  /** Line number from 1. */
  readonly line: number
  /**
   * `file`: starts a module. `classic`: starts a classic script. `blob`, `data`: starts from such a URL with the
   * worker's text.
   */
  readonly kind: 'file' | 'classic' | 'blob' | 'data'
  /** Whether a worker starts this worker. */
  readonly isNested: boolean
}

/** Facts about workers that may import the environment. */
export interface EnvironmentWorkers {
  /** Bundles by the worker's entry. */
  readonly bundles: Map<string, WorkerBundle>
  /** Starts by `startsKey` of the module that starts the worker, or of Vite's module for the worker. */
  readonly starts: Map<string, readonly FoundStart[]>
}

/** Rules for building workers. */
export interface WorkerRules {
  readonly root: string
  /** Vite's `base` if it contains another host. */
  readonly foreignBase: string | undefined
  /** Vite's `worker.format`. */
  readonly format: string
  readonly isFormatChosen: boolean
}

/** Returns all workers that cannot work, each with file and line. */
export function workerProblems({ bundles, starts }: EnvironmentWorkers, rules: WorkerRules): string[] {
  const problems = new Set<string>()
  const importLines = ({ importers }: WorkerBundle): string[] =>
    importers.map((module) => placeOfImport(rules.root, module))
  for (const bundle of bundles.values()) {
    if (rules.format === 'es' || bundle.importers.length === 0) continue
    for (const place of importLines(bundle))
      problems.add(
        `${place}: a worker imports the environment, but Vite's option worker.format is '${rules.format}'. Set it to 'es', or remove it.`,
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
    return "the worker is a module but starts as a classic script. Write new Worker(new URL('…', import.meta.url), { type: 'module' })"
  if (!isReached) return undefined
  if (kind === 'data')
    return 'a worker from a data: URL has no origin and cannot import modules. Remove ?inline'
  if (kind === 'blob' && !isInFirstOnly)
    return 'an inline worker cannot load the chunk that imports the environment. Remove ?inline'
  if (kind === 'blob')
    return isNested ? 'a nested inline worker has no URL to import from. Remove ?inline' : undefined
  return foreignBase === undefined
    ? undefined
    : `browsers cannot start workers from another origin (Vite's base is ${foreignBase}), and import maps do not apply in workers. Use ?worker&inline, or send the values with postMessage`
}

/** Returns a key that separates modules of pages from the same modules in workers. */
export function startsKey(module: string, isNested: boolean): string {
  return isNested ? `worker:${module}` : module
}

/** Removes modules that a watched build no longer has. Modules of workers are in separate graphs, so they stay. */
export function forgetStarts({ starts }: EnvironmentWorkers, modules: ReadonlySet<string>): void {
  for (const [key, found] of starts)
    if (found.every(({ isNested }) => !isNested) && !modules.has(key)) starts.delete(key)
}

/** Returns the line of an offset in the source file, before plugins changed it. */
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

/** Returns the place where a module imports the environment: its file, relative to the root, and the line. */
export function placeOfImport(root: string, module: string): string {
  return `${within(root, module)}:${lineOf(module, importText)}`
}

/** The import of the environment in a module's code. */
export const importText: RegExp = /["'`]virtual:serve-dist\/env["'`]/

/** Returns the first line of a module's file that contains the text, from 1. Modules of plugins may have no file. */
export function lineOf(module: string, text: RegExp): number {
  const file = fileOf(module)
  const content = existsSync(file) ? readFileSync(file, 'utf8') : ''
  return content.slice(0, Math.max(content.search(text), 0)).split('\n').length
}

/** Returns a module's file: its id without the query. */
export function fileOf(module: string): string {
  return module.replace(/\?.*$/s, '')
}

function within(root: string, module: string): string {
  return relative(root, fileOf(module)).split(sep).join('/')
}
