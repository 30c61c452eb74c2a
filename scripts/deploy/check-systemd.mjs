import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../run-command.mjs'
import { ask } from './ask.mjs'
import { difference } from './findings.mjs'
import { freePort } from './free-port.mjs'
import { startServer } from './start-server.mjs'

/** @import { Findings } from './findings.mjs' */

const units = fileURLToPath(new URL('../../deploy/systemd', import.meta.url))
const names = ['serve-dist.socket', 'serve-dist.service']

/** Of 10, by `systemd-analyze security`; what it is on the day that this is written. */
const mostExposure = 0.4

/**
 * Asks systemd about the units, without starting one, and hands a socket over as it would.
 *
 * @param {{ application: string, directory: string }} place The folder that stands for /srv/site.
 * @param {Findings} findings
 */
export async function checkSystemd({ application, directory }, findings) {
  if (existsSync('/usr/bin/systemd-analyze')) await noteUnits({ application, directory }, findings)
  else findings.skip('the systemd units', 'there is no systemd-analyze')
  if (existsSync('/usr/bin/systemd-socket-activate')) await noteActivation(application, findings)
  else findings.skip('the socket that systemd hands over', 'there is no systemd-socket-activate')
}

/**
 * @param {{ application: string, directory: string }} place
 * @param {Findings} findings
 */
async function noteUnits({ application, directory }, findings) {
  const copies = join(directory, 'units')
  await mkdir(copies)
  for (const name of names) {
    const text = await readFile(join(units, name), 'utf8')
    await writeFile(join(copies, name), text.replaceAll('/srv/site', application))
  }
  const verified = await runCommand(
    ['systemd-analyze', 'verify', ...names.map((name) => join(copies, name))],
    {
      isQuiet: true,
    },
  )
  const isFine = verified.exitCode === 0 && verified.output.trim() === ''
  findings.note('systemd finds nothing wrong with its units', isFine ? undefined : verified.output)

  const service = join(copies, 'serve-dist.service')
  const judged = await runCommand(['systemd-analyze', 'security', '--offline=yes', '--no-pager', service], {
    isQuiet: true,
  })
  const exposure = Number(/exposure level for \S+: ([\d.]+)/.exec(judged.output)?.[1] ?? Number.NaN)
  findings.note(
    `systemd gives the service an exposure of ${exposure} of 10`,
    exposure <= mostExposure ? undefined : judged.output,
  )
}

/**
 * The server has no network of its own then, where we may take it away, as PrivateNetwork= does.
 *
 * @param {string} application
 * @param {Findings} findings
 */
async function noteActivation(application, findings) {
  const port = await freePort()
  const isAlone = process.getuid?.() === 0 && existsSync('/usr/bin/unshare')
  const title = `a socket that systemd hands over is served${isAlone ? ', without a network' : ''}`
  /** @type {[string, ...string[]]} */
  const command = [
    'systemd-socket-activate',
    `--listen=127.0.0.1:${port}`,
    `--setenv=PATH=${process.env['PATH']}`,
  ]
  if (isAlone) command.push('unshare', '--net', '--')
  command.push('node_modules/.bin/serve-dist')
  const starting = startServer(command, { cwd: application })
  const answer = await waitFor(async () => await ask(`http://127.0.0.1:${port}/`))
  const server = await starting
  findings.note(title, difference(answer.status, 200))
  process.kill(server.pid, 'SIGTERM')
  findings.note('and it ends on SIGTERM', difference(await server.ended, 0))
}

/**
 * @template Value
 * @param {() => Promise<Value>} attempt
 * @returns {Promise<Value>}
 */
async function waitFor(attempt) {
  const deadline = Date.now() + 20_000
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (Date.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
