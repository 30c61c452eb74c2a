import { readFile } from 'node:fs/promises'

/** @typedef {{ passed: number, failed: number, skipped: number }} TestCounts */

/**
 * Reads how many tests passed, failed and were skipped from a report of vitest's JSON reporter, or
 * `undefined` when there is no such report: the run broke before it could write one.
 *
 * @param {string} reportPath
 * @returns {Promise<TestCounts | undefined>}
 */
export async function countTests(reportPath) {
  const text = await readFile(reportPath, 'utf8').catch(() => '')
  if (text === '') return undefined
  const report = JSON.parse(text)
  // A file that cannot be loaded has no tests to count, and must still be seen to have failed.
  const brokenFiles = report.testResults.filter(
    (/** @type {{ status: string, assertionResults: { status: string }[] }} */ file) =>
      file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed'),
  ).length
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + brokenFiles,
    skipped: report.numPendingTests + (report.numTodoTests ?? 0),
  }
}
