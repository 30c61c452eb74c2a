// `pnpm check:http`: what independent judges say of the command's answers. They come from PyPI.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installJudges } from './judges/install-judges.mjs'
import { writeSites } from './judges/write-sites.mjs'
import { runCommand } from './run-command.mjs'

const bin = fileURLToPath(new URL('../packages/server/bin/serve-dist.js', import.meta.url))
const judges = fileURLToPath(new URL('judges', import.meta.url))

const python = await installJudges()
if (python === undefined) {
  const isRequired = process.env['CI'] !== undefined
  console.log(
    `${isRequired ? '✗' : '⚠ SKIPPED:'} the judges of HTTP could not be installed, so nothing was judged`,
  )
  process.exit(isRequired ? 1 : 0)
}

const directory = await mkdtemp(join(tmpdir(), 'serve-dist-judges-'))
/** @type {import('node:child_process').ChildProcess[]} */
const servers = []
try {
  const { spa, mpa } = await writeSites(directory, bin)
  const held = await startServer(spa)
  const streamed = await startServer(spa, '--memory-budget', '0')
  const pages = await startServer(mpa)

  const isRight = [
    await hear('httplint, bodies from memory', [python, join(judges, 'lint.py'), held, pages]),
    await hear('httplint, bodies streamed', [python, join(judges, 'lint.py'), streamed, pages]),
    await hear('redbot', [python, join(judges, 'ask_redbot.py'), held, pages]),
    await hear('hypothesis and h11, bodies from memory', [python, join(judges, 'fuzz.py'), held]),
    await hear('hypothesis and h11, bodies streamed', [python, join(judges, 'fuzz.py'), streamed]),
    await haveSurvived(),
  ]
  if (isRight.includes(false)) process.exitCode = 1
} finally {
  for (const server of servers) server.kill('SIGKILL')
  await rm(directory, { recursive: true, force: true })
}

/**
 * Starts the command on a free port, and answers the port.
 *
 * @param {string} site
 * @param {string[]} flags
 */
async function startServer(site, ...flags) {
  const args = [bin, site, '--port', '0', '--immutable', 'assets/**', ...flags]
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  servers.push(server)
  const [line] = await once(server.stdout, 'data')
  const port = /:(\d+)\//.exec(String(line))?.[1]
  if (port === undefined) throw new Error(`the command did not say where it listens: ${String(line)}`)
  return port
}

/**
 * @param {string} title
 * @param {[string, ...string[]]} command
 */
async function hear(title, command) {
  console.log(`\n▸ ${title}`)
  const { exitCode } = await runCommand(command, {
    environment: {
      PYTHONDONTWRITEBYTECODE: '1',
      HYPOTHESIS_STORAGE_DIRECTORY: join(directory, 'hypothesis'),
    },
  })
  return exitCode === 0
}

/** Every server still runs, and ends as it should. */
async function haveSurvived() {
  const codes = await Promise.all(
    servers.map(async (server) => {
      if (server.exitCode !== null || server.signalCode !== null) return server.exitCode ?? server.signalCode
      server.kill('SIGTERM')
      const [code] = await once(server, 'exit')
      return code
    }),
  )
  const isRight = codes.every((code) => code === 0)
  console.log(`\n${isRight ? '✓' : '✗'} the servers ended with ${codes.join(', ')}`)
  return isRight
}
