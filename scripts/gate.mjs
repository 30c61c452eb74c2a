import { readFile, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { pnpmCommand } from './pnpm-command.mjs'
import { runCommand } from './run-command.mjs'

const cwd = fileURLToPath(new URL('..', import.meta.url))
const reports = fileURLToPath(new URL('../.reports', import.meta.url))

/** The exit code of a check without failures that could not run completely on this machine. */
const skippedExitCode = 77

/** @typedef {{ passed: number, failed: number, skipped: number, failures: readonly string[] }} Outcome */

/**
 * Runs steps and counts passes, failures and skips. A step `test:x` is the vitest project x, whose tests are counted. Any
 * other step is a script of the root's package.json, and counts only if it fails or is skipped.
 */
export async function openGate() {
  await rm(reports, { recursive: true, force: true })
  /** @type {{ line: string, outcome: Outcome }[]} */
  const results = []

  /**
   * Runs steps one after the other.
   *
   * @param {Iterable<string>} steps Another call may take steps from the same iterator.
   * @param {number} [deadline] In milliseconds since 1970. A step that it ends counts as skipped.
   */
  async function run(steps, deadline = Infinity) {
    for (const step of steps) {
      const started = Date.now()
      console.log(`\n▸ ${step}`)
      const outcome = await outcomeOf(step, deadline - started)
      const mark = outcome.failed > 0 ? '✗' : outcome.skipped > 0 && outcome.passed === 0 ? '⚠ SKIPPED:' : '✓'
      const line = `${mark} ${step} (${((Date.now() - started) / 1000).toFixed(1)} s)`
      console.log(line)
      results.push({ line, outcome })
    }
  }

  /** Prints the failures again, the time of each step, and `N passed, N failed, N skipped`. */
  function close() {
    // The record of a run may contain only its last lines.
    for (const failure of results.flatMap(({ outcome }) => outcome.failures)) console.error(`\n✗ ${failure}`)
    console.log(`\n${results.map(({ line }) => line).join('\n')}`)
    const [passed, failed, skipped] = /** @type {const} */ (['passed', 'failed', 'skipped']).map((kind) =>
      results.reduce((sum, { outcome }) => sum + outcome[kind], 0),
    )
    console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`)
    return failed === 0
  }

  return { run, close }
}

/**
 * @param {string} step
 * @param {number} timeLeft
 * @returns {Promise<Outcome>}
 */
async function outcomeOf(step, timeLeft) {
  const none = { passed: 0, failed: 0, skipped: 0, failures: [] }
  const begun = Date.now()
  const isCut = () => Date.now() - begun >= timeLeft
  if (isCut()) return noteTimeLimit()
  const timeLimit = timeLeft === Infinity ? 0 : timeLeft
  const project = /^test:(.+)/.exec(step)?.[1]
  if (project === undefined) {
    // Other steps may run at the same time: the output of each is printed as one piece.
    const { exitCode, output } = await runCommand(pnpmCommand('run', step), { cwd, timeLimit, isQuiet: true })
    console.log(`\n▸ ${step}, its output:\n${output.trimEnd()}`)
    if (exitCode === skippedExitCode) return { ...none, skipped: 1 }
    if (exitCode !== 0 && isCut()) return noteTimeLimit()
    return exitCode === 0 ? none : { ...none, failed: 1, failures: [`${step} failed`] }
  }
  const report = `${reports}/${project}.json`
  const flags = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const command = pnpmCommand('exec', 'vitest', 'run', '--project', project, ...flags)
  const { exitCode } = await runCommand(command, { cwd, timeLimit })
  if (exitCode !== 0 && isCut()) return noteTimeLimit()
  const outcome = await readReport(report)
  if (exitCode === 0 || outcome.failed > 0) return outcome
  return { ...outcome, failed: 1, failures: [`${step} ended with exit code ${exitCode}, and no test failed`] }
}

/** @returns {Outcome} */
function noteTimeLimit() {
  console.log('⚠ SKIPPED: the time limit of these steps is over')
  return { passed: 0, failed: 0, skipped: 1, failures: [] }
}

/** @typedef {{ status: string, fullName: string, failureMessages?: string[] }} TestResult */
/** @typedef {{ name: string, status: string, message?: string, assertionResults: TestResult[] }} FileResult */

/**
 * Reads a report of vitest's JSON reporter: its counts, and the place and first lines of each failure.
 *
 * @param {string} file
 * @returns {Promise<Outcome>}
 */
async function readReport(file) {
  const text = await readFile(file, 'utf8').catch(() => '')
  if (text === '') return { passed: 0, failed: 1, skipped: 0, failures: [`there is no report ${file}`] }
  const report = JSON.parse(text)
  /** @type {FileResult[]} */
  const files = report.testResults
  const failures = files.flatMap(({ name, status, message = '', assertionResults }) => {
    const failed = assertionResults.filter((result) => result.status === 'failed')
    // A file that cannot be loaded has no tests, but counts as a failure.
    if (failed.length === 0 && status === 'failed') return [describeFailure(name, [message])]
    return failed.map((result) =>
      describeFailure(`${name} > ${result.fullName}`, result.failureMessages ?? []),
    )
  })
  const skipped = report.numPendingTests + (report.numTodoTests ?? 0)
  return { passed: report.numPassedTests, failed: failures.length, skipped, failures }
}

/**
 * @param {string} title
 * @param {readonly string[]} messages
 */
function describeFailure(title, messages) {
  const lines = messages.flatMap((message) => message.split('\n').slice(0, 12))
  return [title, ...lines.map((line) => `    ${line.slice(0, 300)}`)].join('\n')
}
