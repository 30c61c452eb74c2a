// `pnpm check:http`: tests the command's answers with independent programs from PyPI.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { judgedEngines } from './judges/judged-engines.mjs'
import { writeSites } from './judges/write-sites.mjs'
import { runCommand } from './run-command.mjs'
import { startProgram } from './start-program.mjs'

const bin = fileURLToPath(new URL('../packages/server/bin/serve-dist.js', import.meta.url))
const judges = fileURLToPath(new URL('judges', import.meta.url))
const python = await installJudges()

const directory = await mkdtemp(join(tmpdir(), 'serve-dist-judges-'))
try {
  const { spa, mpa } = await writeSites(directory, bin)
  const config = join(directory, 'serve-dist.config.json')
  await writeFile(config, JSON.stringify({ immutable: ['assets/**'] }))
  const servers = []
  for (const engine of judgedEngines()) {
    const given = ['--engine', engine, '--port', '0', '--config', config]
    const serve = (/** @type {string[]} */ ...args) =>
      startProgram([process.execPath, bin, ...given, ...args])
    const started = [await serve(spa), await serve(spa, '--memory-budget', '0'), await serve(mpa)]
    servers.push(...started)
    const [held = '', streamed = '', pages = ''] = started.map(({ url }) => url.port)
    await hear(`REDbot and httplint, engine ${engine}, bodies from memory`, 'redbot_judge.py', held, pages)
    await hear(`REDbot and httplint, engine ${engine}, bodies streamed`, 'redbot_judge.py', streamed, pages)
    await hear(`hypothesis and h11, engine ${engine}, bodies from memory`, 'fuzz.py', held)
    await hear(`hypothesis and h11, engine ${engine}, bodies streamed`, 'fuzz.py', streamed)
  }
  const ends = await Promise.all(servers.map((server) => server.stop()))
  const isWhole = ends.every(({ exitCode, errors }) => exitCode === 0 && errors === '')
  if (!isWhole) process.exitCode = 1
  console.log(isWhole ? '✓ the servers still run' : `✗ servers ended: ${JSON.stringify(ends)}`)
} finally {
  await rm(directory, { recursive: true, force: true })
}

/**
 * Installs the programs into a Python environment. Ends this program if that fails.
 *
 * @returns {Promise<string>} The path of Python.
 */
async function installJudges() {
  const environment = fileURLToPath(new URL('../node_modules/.cache/http-judges', import.meta.url))
  const isWindows = process.platform === 'win32'
  const ours = join(environment, isWindows ? 'Scripts/python.exe' : 'bin/python')
  const requirements = ['-r', join(judges, 'requirements.txt')]
  /** @type {[string, ...string[]][]} */
  const steps = [
    [isWindows ? 'python' : 'python3', '-m', 'venv', environment],
    [ours, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...requirements],
  ]
  for (const step of steps) {
    const { exitCode, output } = await runCommand(step, { isQuiet: true, timeLimit: 300_000 })
    if (exitCode === 0) continue
    console.log(output.trimEnd().split('\n').slice(-5).join('\n'))
    console.log(`⚠ SKIPPED: ${step.join(' ')} failed, so nothing was tested`)
    process.exit(process.env['CI'] === undefined ? 77 : 1)
  }
  return ours
}

/**
 * @param {string} title
 * @param {string} judge
 * @param {string[]} ports
 */
async function hear(title, judge, ...ports) {
  console.log(`\n▸ ${title}`)
  const environment = {
    PYTHONDONTWRITEBYTECODE: '1',
    HYPOTHESIS_STORAGE_DIRECTORY: join(directory, 'hypothesis'),
  }
  const { exitCode } = await runCommand([python, join(judges, judge), ...ports], { environment })
  if (exitCode !== 0) process.exitCode = 1
}
