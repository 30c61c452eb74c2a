import { join, relative, resolve, sep } from 'node:path'
import {
  createProgressLine,
  precompress,
  PrecompressError,
  type PrecompressReport,
} from '@serve-dist/precompress'
import { servedBase } from '@serve-dist/precompress/served-base'
import { formatPass } from '@serve-dist/report'
import colors from 'picocolors'
import type { ResolvedConfig } from 'vite'
import { assetsDirectory } from '../record/assets-directory.ts'
import type { ChunkGraph } from '../links/chunk-graph.ts'
import { createLinksOf } from '../links/create-links-of.ts'
import { drawsProgress } from './draws-progress.ts'
import { failPass } from './fail-pass.ts'
import { isInside } from '../record/is-inside.ts'
import type { PassContext } from './pass-context.ts'
import type { ServeDistSettings } from '../serve-dist-options.ts'

export interface PassOptions extends ServeDistSettings {
  /** Whether the bundler put a content hash into the name of this file, an absolute path. */
  readonly isHashed: (path: string) => boolean
  /** The chunks of the build, by absolute paths. */
  readonly graph: ChunkGraph
  /** Tells of a failure; while a newer build is under way, only when that fails too, for it gets its own pass. */
  readonly tellFailure: (tell: () => void) => void
  /** Ends the pass when a newer build is about to write. */
  readonly signal: AbortSignal
  /** What was warned of before, in an earlier pass over the same build. */
  readonly told: Set<string>
  /** Whether the same folder was compressed before, so that only a change is worth a word. */
  readonly isRepeated: boolean
}

/** Compresses one folder of a build and reports through Vite; a failure fails the build. */
export async function compressFolder(
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
      ...(preload && { linksOf: createLinksOf({ folder, base, graph }, preload) }),
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

/** What other environments write inside this folder is for servers, and not to be served. */
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
  const problems = error instanceof PrecompressError ? error.problems : [String(error)]
  return [`serve-dist could not compress ${folder}:`, ...problems].join('\n  ')
}
