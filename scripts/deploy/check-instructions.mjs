import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../run-command.mjs'
import { ask } from './ask.mjs'
import { difference } from './findings.mjs'
import { startServer } from './start-server.mjs'

/** @import { Findings } from './findings.mjs' */

const page = fileURLToPath(new URL('../../docs/deploying.md', import.meta.url))
const units = fileURLToPath(new URL('../../deploy/systemd', import.meta.url))

/**
 * Types the commands of docs/deploying.md on systemd, with folders of ours in the place of the system's, and a signal
 * in the place of `systemctl`.
 *
 * @param {{ project: string, application: string, directory: string }} place
 * @param {Findings} findings
 */
export async function checkInstructions({ project, application, directory }, findings) {
  const [install = '', deploy = ''] = await commandsOf('systemd')
  const site = join(directory, 'site')
  const system = join(directory, 'system')
  await mkdir(system)
  await cp(units, join(project, 'deploy/systemd'), { recursive: true })
  await cp(join(application, 'dist'), join(project, 'dist'), { recursive: true })
  const type = async (/** @type {string} */ commands, /** @type {string} */ reload) => {
    const adapted = commands
      .replaceAll('/srv/site', site)
      .replaceAll('/etc/systemd/system', system)
      .replace(/^systemctl reload .*$/m, reload)
      .replace(/^systemctl enable .*$/m, '')
    const { exitCode, output } = await runCommand(['sh', '-ec', adapted], {
      cwd: project,
      environment: { npm_config_local_prefix: undefined, INIT_CWD: undefined },
      isQuiet: true,
    })
    return exitCode === 0 ? undefined : `${adapted}\n${output}`
  }

  const installed = await type(install, '')
  findings.note('the instructions for systemd make a site', installed)
  if (installed !== undefined) return
  const server = await startServer(['node_modules/.bin/serve-dist', '--port', '0'], { cwd: site })
  const before = await ask(server.url)

  await writeFile(
    join(project, 'dist/index.html'),
    '<!doctype html><title>another build</title>\n'.repeat(30),
  )
  const program = join(site, 'node_modules/.bin/serve-dist')
  await runCommand([program, 'compress', 'dist'], { cwd: project, isQuiet: true })
  findings.note('… and put another build there', await type(deploy, `kill -HUP ${server.pid}`))
  const deadline = Date.now() + 20_000
  let after = await ask(server.url)
  while (after.sha256 === before.sha256 && Date.now() < deadline) after = await ask(server.url)
  const isNew = [after.status, after.sha256 !== before.sha256]
  findings.note('… which is served from then on', difference(isNew, [200, true]))
  process.kill(server.pid, 'SIGTERM')
  await server.ended
}

/**
 * The blocks of commands of a section.
 *
 * @param {string} title
 */
async function commandsOf(title) {
  const text = await readFile(page, 'utf8')
  const section = text.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? ''
  return Array.from(section.matchAll(/^```sh\n(.*?)^```/gms), ([, commands = '']) => commands)
}
