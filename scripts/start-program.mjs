import { spawn } from 'node:child_process'

/**
 * The result of a program.
 *
 * @typedef {object} ProgramEnd
 * @property {number | null} exitCode `null` if a signal ended it.
 * @property {string} output
 * @property {string} errors
 */

/**
 * @typedef {object} RunningProgram
 * @property {URL} url The first URL that it printed.
 * @property {number} pid
 * @property {() => ProgramEnd} output Returns its output until now.
 * @property {() => boolean} isAlive
 * @property {() => Promise<ProgramEnd>} stop Sends SIGTERM, and waits for the end.
 */

/**
 * @typedef {object} ProgramPlace
 * @property {string} [cwd]
 * @property {Readonly<Record<string, string | undefined>>} [environment] Added to the environment of this process.
 * @property {boolean} [isGroup] Sends signals also to its children, because `npx` does not pass them on. Not on Windows.
 */

/**
 * Starts a program, and waits until it prints the URL that it listens on.
 *
 * @param {readonly string[]} command
 * @param {ProgramPlace} [place]
 * @returns {Promise<RunningProgram>}
 * @throws Error with its output if it ends before.
 */
export async function startProgram(command, place) {
  const { child, ended, output, signalAll } = spawnProgram(command, place)
  /** @type {URL} */
  const url = await new Promise((resolve, reject) => {
    child.stdout.on('data', () => {
      const address = /\bhttps?:\/\/\S+(?=\s)/.exec(output().output)?.[0]
      if (address !== undefined) resolve(new URL(address))
    })
    void ended.then((end) => reject(new Error(`it ended before it listened: ${JSON.stringify(end)}`)))
  })
  return {
    url,
    pid: child.pid ?? 0,
    output,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    stop: () => {
      signalAll('SIGTERM')
      return ended
    },
  }
}

/**
 * Runs a program to its end.
 *
 * @param {readonly string[]} command
 * @param {ProgramPlace} [place]
 * @returns {Promise<ProgramEnd>}
 */
export function runProgram(command, place) {
  return spawnProgram(command, place).ended
}

/**
 * @param {readonly string[]} command
 * @param {ProgramPlace} [place]
 */
function spawnProgram([file = '', ...args], { cwd, environment, isGroup = false } = {}) {
  const env = { ...process.env, ...environment }
  const child = spawn(file, args, {
    ...(cwd !== undefined && { cwd }),
    env,
    detached: isGroup,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  /** @param {NodeJS.Signals} signal */
  const signalAll = (signal) => {
    if (!isGroup || child.pid === undefined) child.kill(signal)
    else if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, signal)
  }
  const kill = () => signalAll('SIGKILL')
  process.once('exit', kill)
  let output = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (/** @type {string} */ text) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (/** @type {string} */ text) => (errors += text))
  /** @type {Promise<ProgramEnd>} */
  const ended = new Promise((resolve) => {
    child.once('error', (error) => resolve({ exitCode: 127, output, errors: String(error) }))
    child.once('close', (exitCode) => resolve({ exitCode, output, errors }))
  })
  void ended.then(() => process.removeListener('exit', kill))
  return { child, ended, signalAll, output: () => ({ exitCode: child.exitCode, output, errors }) }
}
