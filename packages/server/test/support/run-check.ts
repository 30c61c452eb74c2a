import { spawnCommand } from './spawn-command.ts'

/** What `serve-dist check --json` says. */
export interface CheckRun {
  readonly code: number | null
  /** Codes of what was found, errors first. */
  readonly found: readonly string[]
  /** One sentence each. */
  readonly texts: readonly string[]
  readonly right: readonly string[]
  readonly stopped: string | undefined
  /** What it says before and beside the report. */
  readonly stderr: string
}

/** Runs the command as it was built, and reads its report. */
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
