import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { countTests } from './count-tests.mjs'
import { pnpmCommand } from './pnpm-command.mjs'
import { runCommand } from './run-command.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const reports = fileURLToPath(new URL('../.reports', import.meta.url))

/** The scripts of the root package.json that make up the gate, in their order. */
const checks = ['build', 'typecheck', 'lint', 'format:check', 'knip', 'packaging']
const testProjects = ['unit', 'unit-precompress', 'http', 'slow', 'build', 'e2e']
const checksAfterTests = ['check:http', 'check:h2spec', 'check:deploy']

/**
 * Runs every check and every test project, goes on after a failure so that all problems are seen at
 * once, names the tests that failed once more, and ends with the line `N passed, N failed, N skipped`. A check that failed, and a test run
 * that broke before its tests, count as one failure each.
 *
 * @param {Record<string, string | undefined>} [environment]
 * @returns {Promise<boolean>} Whether everything passed.
 */
export async function runGate(environment = {}) {
  const total = { passed: 0, failed: 0, skipped: 0 }
  /** @type {string[]} */
  const failedSteps = []
  /** @type {string[]} */
  const failures = []
  await rm(reports, { recursive: true, force: true })
  const runChecks = async (/** @type {readonly string[]} */ names) => {
    for (const name of names) {
      if (await isGreen(name, pnpmCommand('run', name), environment)) continue
      failedSteps.push(name)
      total.failed += 1
    }
  }
  await runChecks(checks)
  for (const project of testProjects) {
    const report = `${reports}/${project}.json`
    const flags = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
    const command = pnpmCommand('exec', 'vitest', 'run', '--project', project, ...flags)
    const passed = await isGreen(`test:${project}`, command, environment)
    const counts = (await countTests(report)) ?? { passed: 0, failed: 0, skipped: 0, failures: [] }
    failures.push(...counts.failures)
    if (!passed || counts.failed > 0) {
      failedSteps.push(`test:${project}`)
      counts.failed = Math.max(counts.failed, 1)
    }
    total.passed += counts.passed
    total.failed += counts.failed
    total.skipped += counts.skipped
  }
  await runChecks(checksAfterTests)
  // Once more at the end: a record of a run may keep no more than that.
  for (const failure of failures) console.error(`\n✗ ${failure}`)
  if (failedSteps.length > 0) console.error(`\n✗ Failed: ${failedSteps.join(', ')}`)
  console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`)
  return total.failed === 0
}

/**
 * @param {string} title
 * @param {readonly [string, ...string[]]} command
 * @param {Record<string, string | undefined>} environment
 */
async function isGreen(title, command, environment) {
  const started = Date.now()
  console.log(`\n▸ ${title}`)
  const { exitCode } = await runCommand(command, { cwd: root, environment })
  console.log(`${exitCode === 0 ? '✓' : '✗'} ${title} (${((Date.now() - started) / 1000).toFixed(1)} s)`)
  return exitCode === 0
}
