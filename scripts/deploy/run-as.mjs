import { execFileSync, spawn } from 'node:child_process'

/** @typedef {{ uid: number, gid: number }} Account */

/** Nobody's, on every Linux. */
const nobody = { uid: 65_534, gid: 65_534 }

/**
 * Whom to become for what needs no rights: nobody, where we are root and nobody may run this Node.
 *
 * @returns {Account | undefined}
 */
export function accountWithoutRights() {
  if (process.getuid?.() !== 0) return undefined
  try {
    execFileSync(process.execPath, ['--version'], { ...nobody, stdio: 'ignore' })
    return nobody
  } catch {
    return undefined
  }
}

/**
 * Runs a command to its end.
 *
 * @param {Account | undefined} account
 * @param {[string, ...string[]]} command
 * @param {{ folder: string, cwd: string, environment: Record<string, string> }} place The folder becomes the account's.
 * @throws Error with the output, when the command failed.
 */
export async function runAs(account, command, { folder, cwd, environment }) {
  if (account !== undefined) execFileSync('chown', ['-R', `${account.uid}:${account.gid}`, folder])
  const [file, ...args] = command
  const child = spawn(file, args, { ...account, cwd, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => (output += text))
  }
  /** @type {number | null} */
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${output}`)
}
