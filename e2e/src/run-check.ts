import { runToEnd, type StartCommandOptions } from './start-command.ts'

/** What `serve-dist check --json` says. */
export interface CheckRun {
  readonly exitCode: number | null
  readonly stopped: string | undefined
  /** The sentences by their codes, errors first. */
  readonly findings: Readonly<Record<string, string>>
}

/** Checks a site with the command. */
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
