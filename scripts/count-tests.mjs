import { readFile } from 'node:fs/promises'

/** @typedef {{ passed: number, failed: number, skipped: number }} TestCounts */
/** @typedef {{ status: string, fullName: string, failureMessages?: string[] }} TestResult */
/** @typedef {{ name: string, status: string, message?: string, assertionResults: TestResult[] }} FileResult */

/**
 * Reads how many tests passed, failed and were skipped from a report of vitest's JSON reporter, and of each
 * failure where it was and how its message begins; or `undefined` when there is no such report: the run broke
 * before it could write one.
 *
 * @param {string} reportPath
 * @returns {Promise<TestCounts & { failures: string[] } | undefined>}
 */
export async function countTests(reportPath) {
  const text = await readFile(reportPath, 'utf8').catch(() => '')
  if (text === '') return undefined
  const report = JSON.parse(text)
  /** @type {FileResult[]} */
  const files = report.testResults
  // A file that cannot be loaded has no tests to count, and must still be seen to have failed.
  const brokenFiles = files.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed'),
  )
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + brokenFiles.length,
    skipped: report.numPendingTests + (report.numTodoTests ?? 0),
    failures: [
      ...brokenFiles.map(({ name, message = '' }) => `${name}\n${beginningOf(message)}`),
      ...files.flatMap(({ name, assertionResults }) =>
        assertionResults
          .filter(({ status }) => status === 'failed')
          .map(
            ({ fullName, failureMessages = [] }) =>
              `${name} > ${fullName}\n${failureMessages.map(beginningOf).join('\n')}`,
          ),
      ),
    ],
  }
}

/** @param {string} message */
function beginningOf(message) {
  const lines = message.split('\n').slice(0, 12)
  return lines.map((line) => `    ${line.slice(0, 300)}`).join('\n')
}
