import { runToEnd, type StartCommandOptions } from './start-command.ts'

/** The result of `serve-dist check --json`. */
export interface CheckRun {
  readonly exitCode: number | null
  readonly stopped: string | undefined
  /** Sentences by code, errors first. */
  readonly findings: Readonly<Record<string, string>>
}

/** Runs `serve-dist check` for a site. */
export async function runCheck(
  command: readonly [string, ...string[]],
  { args, ...options }: StartCommandOptions,
): Promise<CheckRun> {
  const end = await runToEnd(command, { ...options, args: ['check', ...args, '--json'] })
  if (end.output === '') throw new Error(`no report: ${end.errors}`)
  const report: Report = JSON.parse(end.output)
  return {
    exitCode: end.exitCode,
    stopped: report.stopped,
    findings: Object.fromEntries(report.findings.map(({ code, text }) => [code, text])),
  }
}

interface Report {
  readonly findings: readonly { readonly code: string; readonly text: string }[]
  readonly stopped?: string
}
