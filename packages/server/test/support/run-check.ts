import { spawnCommand } from './spawn-command.ts'

/** The result of `serve-dist check --json`. */
export interface CheckRun {
  readonly code: number | null
  /** The codes of findings, errors first. */
  readonly found: readonly string[]
  /** One sentence for each finding. */
  readonly texts: readonly string[]
  readonly right: readonly string[]
  readonly stopped: string | undefined
  /** The output before and besides the report. */
  readonly stderr: string
}

/** Runs the built command, and parses its report. */
export async function runCheck(args: readonly string[], cwd?: string): Promise<CheckRun> {
  const { exited } = spawnCommand(['check', ...args, '--json'], cwd === undefined ? {} : { cwd })
  const { code, stdout, stderr } = await exited
  if (stdout === '') throw new Error(`no report: ${stderr}`)
  const report: Report = JSON.parse(stdout)
  return {
    code,
    found: report.findings.map((finding) => finding.code),
    texts: report.findings.map(({ text }) => text),
    right: report.right,
    stopped: report.stopped,
    stderr,
  }
}

interface Report {
  readonly findings: readonly { readonly code: string; readonly text: string }[]
  readonly right: readonly string[]
  readonly stopped?: string
}
