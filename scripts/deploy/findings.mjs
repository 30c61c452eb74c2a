/**
 * What a check saw: printed as it comes, and counted.
 *
 * @typedef {object} Findings
 * @property {(title: string, problem?: string) => void} note Nothing wrong, unless a problem is told.
 * @property {(title: string, reason: string) => void} skip What this machine cannot check.
 * @property {() => boolean} areGood
 */

/** @returns {Findings} */
export function openFindings() {
  let problems = 0
  return {
    note(title, problem) {
      if (problem !== undefined) problems += 1
      console.log(problem === undefined ? `✓ ${title}` : `✗ ${title}\n${problem.replace(/^/gm, '    ')}`)
    },
    skip(title, reason) {
      console.log(`⚠ SKIPPED: ${title} (${reason})`)
    },
    areGood: () => problems === 0,
  }
}

/**
 * What was expected and not found, in words; `undefined` when both are the same.
 *
 * @param {unknown} found
 * @param {unknown} expected
 */
export function difference(found, expected) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)]
  return a === b ? undefined : `found    ${a}\nexpected ${b}`
}
