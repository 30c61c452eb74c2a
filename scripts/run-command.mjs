import { spawn } from 'node:child_process'

/**
 * @typedef {object} RunCommandOptions
 * @property {string} [cwd]
 * @property {Record<string, string | undefined>} [environment] Added to the environment of this process.
 * @property {boolean} [isQuiet] Collect the output instead of showing it.
 * @property {number} [timeLimit] In milliseconds.
 */

/**
 * Runs a command to its end. It does not throw if the command fails.
 *
 * @param {readonly [string, ...string[]]} command
 * @param {RunCommandOptions} [options]
 * @returns {Promise<{ exitCode: number, output: string }>}
 */
export function runCommand([file, ...args], { cwd, environment = {}, isQuiet = false, timeLimit = 0 } = {}) {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      ...(cwd === undefined ? {} : { cwd }),
      env: { ...process.env, ...environment },
      stdio: ['ignore', isQuiet ? 'pipe' : 'inherit', isQuiet ? 'pipe' : 'inherit'],
      timeout: timeLimit,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (/** @type {string} */ text) => (output += text))
    }
    child.once('error', (error) => resolve({ exitCode: 127, output: `${output}${error.message}` }))
    child.once('close', (code) => resolve({ exitCode: code ?? 1, output }))
  })
}
