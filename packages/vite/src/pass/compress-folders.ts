import { join, relative, resolve, sep } from 'node:path'
import {
  createLinksOf,
  createProgressLine,
  precompress,
  type PrecompressReport,
} from '@serve-dist/precompress'
import { OperatorError, servedBase } from '@serve-dist/manifest'
import { type Budget, checkBudgets, describeBudget, formatPass } from '@serve-dist/report'
import colors from 'picocolors'
import type { Environment, ResolvedConfig } from 'vite'
import { type ChunkGraph, graphWithin } from '../record/chunk-graph.ts'
import { assetsDirectory, isInside } from '../record/output-folders.ts'
import type { ServeDistSettings } from '../serve-dist-options.ts'

/** The part of a hook's context that a pass needs. */
export interface PassContext {
  readonly environment: Environment
  readonly meta: { readonly watchMode: boolean }
  warn(message: string): void
  error(log: { message: string; cause?: unknown; stack?: string }): never
}

export interface PassOptions extends ServeDistSettings {
  /** Whether the bundler put a content hash into the name of this file, an absolute path. */
  readonly isHashed: (path: string) => boolean
  /** The chunks of the build, by absolute paths. */
  readonly graph: ChunkGraph
  /** Reports a failure. While a newer build runs, only if that fails too, because it gets its own pass. */
  readonly tellFailure: (tell: () => void) => void
  /** Ends the pass when a newer build is about to write. */
  readonly signal: AbortSignal
  /** The warnings of an earlier pass over the same build. */
  readonly told: Set<string>
  /** Whether an earlier pass compressed the same folder, so that only a change is news. */
  readonly isRepeated: boolean
}

/** Compresses one folder of a build after the other, and all of them after the pass before. */
export async function compressFolders(
  earlier: Promise<void>,
  context: PassContext,
  folders: readonly string[],
  options: PassOptions,
): Promise<void> {
  await earlier
  const reports: PrecompressReport[] = []
  for (const folder of folders) {
    if (options.signal.aborted) return
    const report = await compressFolder(context, folder, options)
    if (report === undefined) return
    reports.push(report)
  }
  const isLast = options.isRepeated || context.environment.getTopLevelConfig().builder === undefined
  enforceBudgets(context, reports, { budgets: options.budgets, isLast })
}

/** Compresses one folder of a build and reports through Vite; a failure fails the build. */
async function compressFolder(
  context: PassContext,
  folder: string,
  { pass, preload, isHashed, graph, tellFailure, signal, told, isRepeated }: PassOptions,
): Promise<PrecompressReport | undefined> {
  const { logger } = context.environment
  const config = context.environment.getTopLevelConfig()
  const { build } = context.environment.config
  const base = servedBase(config.base)
  const progress = drawsProgress(config) ? createProgressLine(process.stdout) : undefined
  try {
    const report = await precompress(folder, {
      ...pass,
      exclude: [...(pass.exclude ?? []), ...privateFolders(config, folder)],
      base,
      appType: config.appType,
      assetsDirectory: assetsDirectory(build.assetsDir),
      cacheDirectory: join(config.cacheDir, 'serve-dist'),
      isHashed: (path) => isHashed(resolve(folder, path)),
      ...(preload && {
        linksOf: createLinksOf({ folder, base, graph: graphWithin(graph, folder) }, preload),
      }),
      signal,
      onProgress: (state) => progress?.update(state),
      onWarning: (message) => {
        if (told.has(message)) return
        told.add(message)
        progress?.clear()
        context.warn(message)
      },
    })
    progress?.clear()
    const isNews = !isRepeated || report.written.length + report.removed.length > 0
    if (isNews) logger.info(formatPass(report, { colors: colors.isColorSupported }))
    return report
  } catch (cause) {
    progress?.clear()
    if (!signal.aborted) {
      tellFailure(() => failPass(context, { message: failureOf(folder, cause), cause }))
    }
    return undefined
  }
}

/** The folders inside this one that other environments write for servers, which nobody may be sent. */
function privateFolders({ root, environments }: ResolvedConfig, folder: string): string[] {
  return Object.values(environments)
    .filter(({ consumer, build }) => consumer === 'server' || Boolean(build.ssr))
    .map(({ build }) => resolve(root, build.outDir))
    .filter((path) => isInside(path, folder))
    .map((path) => `${escapeGlob(relative(folder, path).split(sep).join('/'))}/**`)
}

function escapeGlob(path: string): string {
  return path.replaceAll(/[!$()*+?@[\]^{|}]/g, String.raw`\$&`)
}

function failureOf(folder: string, error: unknown): string {
  const problems = error instanceof OperatorError ? error.problems : [String(error)]
  return [`serve-dist could not compress ${folder}:`, ...problems].join('\n  ')
}

/** Whether a line that is drawn over may be shown: not where Vite is told to leave the screen as it is. */
export function drawsProgress({
  logLevel = 'info',
  clearScreen = true,
}: Partial<Pick<ResolvedConfig, 'logLevel' | 'clearScreen'>>): boolean {
  return logLevel === 'info' && clearScreen
}

/**
 * Weighs all folders of a build together and fails it when it is over a budget. A budget that no file
 * counts towards is a warning, unless later environments may still write those files.
 */
function enforceBudgets(
  context: PassContext,
  reports: readonly PrecompressReport[],
  { budgets, isLast }: { readonly budgets: readonly Budget[]; readonly isLast: boolean },
): void {
  const files = reports.flatMap(({ manifest }) => manifest.files)
  // All passes have the rules of one plugin.
  const results = checkBudgets({ ...reports[0]?.manifest, files }, budgets)
  for (const result of isLast ? results : []) {
    if (result.outcome === 'unmatched') context.warn(`budget ${describeBudget(result)}`)
  }
  const exceeded = results.filter(({ outcome }) => outcome === 'exceeded').map(describeBudget)
  if (exceeded.length > 0) {
    failPass(context, {
      message: ['This build weighs more than its budgets allow:', ...exceeded].join('\n  '),
    })
  }
}

/** Fails the build; a watched one goes on, with the failure in its log. An operator's error is shown without a stack. */
function failPass(context: PassContext, log: { message: string; cause?: unknown }): void {
  // Vite does not wait for closeBundle when it watches: an error thrown there ends the process.
  if (context.meta.watchMode) context.environment.logger.error(log.message)
  else if (log.cause === undefined || log.cause instanceof OperatorError) {
    // Without `cause`, which Vite would print as well.
    context.error({ message: log.message, stack: log.message })
  } else context.error(log)
}
