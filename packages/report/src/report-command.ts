import { type Download, type Manifest, OperatorError } from '@serve-dist/manifest'
import { describeUnknownName } from '@serve-dist/foundation/text/describe-unknown-name'
import { terminalWidth } from '@serve-dist/foundation/terminal/wrap-text'
import { makeFolder } from '@serve-dist/foundation/files/make-folder'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, resolve } from 'node:path'
import { budgetProblems } from './budgets/check-budgets.ts'
import { parseBudgets } from './budgets/parse-budgets.ts'
import { readBuild } from './builds/read-build.ts'
import { type BuildReport, createReport } from './formats/create-report.ts'
import { formatJson } from './formats/format-json.ts'
import { formatMarkdown } from './formats/format-markdown.ts'
import { formatTerminal, type FormatTerminalOptions } from './formats/format-terminal.ts'
import { formatHtml } from './page/format-html.ts'
import { readPageAssets } from './page/read-page-assets.ts'

/** The format of a report. */
export type ReportFormat = 'terminal' | 'markdown' | 'json' | 'html'

type Format = (report: BuildReport, options: FormatTerminalOptions) => string | Promise<string>

/** The columns of a terminal that a table with all its columns needs. */
const wide = 120

const formats: ReadonlyMap<string, Format> = new Map<ReportFormat, Format>([
  ['terminal', (report, options) => `${formatTerminal(report, options)}\n`],
  ['markdown', formatMarkdown],
  ['json', formatJson],
  ['html', async (report) => formatHtml(report, await readPageAssets())],
])

/** The options of the command line. */
export interface ReportCommandOptions {
  /** The title of the report. @default 'Build size' */
  readonly title?: string
  /** The build to compare with: its folder or a copy of its manifest. */
  readonly against?: string
  /** @default 'terminal' */
  readonly format?: ReportFormat
  /** The output file instead of standard output. Missing folders are created. */
  readonly output?: string
  /** See `parseBudget`. @default [] */
  readonly budget?: readonly string[]
}

/** A build from a store. */
export interface PublishedBuild {
  readonly build: Manifest
  /** The build to compare with. */
  readonly replaced?: Manifest
  readonly download?: Download
}

/** The output streams of the command. */
export interface ReportStreams {
  readonly stdout: {
    write(text: string): unknown
    readonly isTTY?: boolean
    readonly columns?: number
    hasColors?(): boolean
  }
  readonly stderr: { write(text: string): unknown }
}

/**
 * Runs `serve-dist report`: reads the manifest of a build and writes its report.
 *
 * @param source - The build's folder, a copy of its manifest, or a build from a store.
 * @returns The exit code: 1 if the build fails a budget, else 0.
 * @throws {@link OperatorError} if a build or an option is invalid. Nothing is written in this case.
 */
export async function reportCommand(
  source: string | PublishedBuild,
  options: ReportCommandOptions = {},
  streams: ReportStreams = process,
): Promise<number> {
  const { title, against, format = 'terminal', output, budget = [] } = options
  const budgets = parseBudgets(budget)
  const write = formats.get(format)
  if (write === undefined) {
    throw new OperatorError('SD_REPORT_FAILED', [
      `--format: ${describeUnknownName('format', format, [...formats.keys()])}`,
    ])
  }
  const published = typeof source === 'string' ? { build: await readBuild(source) } : source
  const { build, replaced, download }: PublishedBuild = published
  const earlier = against === undefined ? replaced : await readBuild(against)
  const report = createReport(build, {
    budgets,
    ...(title !== undefined && { title }),
    ...(earlier !== undefined && { against: earlier }),
    ...(download !== undefined && { download }),
  })
  const { stdout } = streams
  // `hasColors` respects NO_COLOR, FORCE_COLOR and terminals without colours.
  const isTerminal = output === undefined && stdout.isTTY === true
  const colors = isTerminal && stdout.hasColors?.() !== false
  const width = isTerminal ? terminalWidth(stdout) : undefined
  const text = await write(report, {
    colors,
    ...(width !== undefined && width < wide && { width }),
    hasChunkImportMap: earlier !== undefined && hasViteWithImportMap(),
  })
  if (output === undefined) stdout.write(text)
  else {
    await writeReport(output, text)
    streams.stderr.write(`serve-dist: wrote the report to ${output}\n`)
  }
  const problems = budgetProblems(report.budgets)
  // The report in the terminal already contains the failures.
  if (format !== 'terminal' || output !== undefined) {
    for (const problem of problems) streams.stderr.write(`serve-dist: budget ${problem}\n`)
  }
  return problems.length === 0 ? 0 : 1
}

/** Returns whether the project of the working directory has Vite 8 or newer. */
function hasViteWithImportMap(): boolean {
  try {
    const { version }: { version: string } = createRequire(resolve('package.json'))('vite/package.json')
    return Number.parseInt(version, 10) >= 8
  } catch {
    return false
  }
}

async function writeReport(file: string, text: string): Promise<void> {
  try {
    await makeFolder(dirname(file))
    await writeFile(file, text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(
      'SD_REPORT_FAILED',
      [`${file}: cannot write the report (${reason}). Choose a path where this user may write.`],
      {
        cause: error,
      },
    )
  }
}
