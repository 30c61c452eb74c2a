// `pnpm check:h2spec`: what h2spec says of HTTP/2, ours and that of Node alone. We must not be worse.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installH2spec, makeCertificateWithGo } from './judges/install-h2spec.mjs'
import { writeSites } from './judges/write-sites.mjs'
import { runCommand } from './run-command.mjs'

const bin = fileURLToPath(new URL('../packages/server/bin/serve-dist.js', import.meta.url))
const bare = fileURLToPath(new URL('judges/bare-http2.mjs', import.meta.url))

const h2spec = await installH2spec()
if (h2spec === undefined) {
  console.log('⚠ SKIPPED: nothing was asked about HTTP/2, for h2spec is not there')
  process.exit(0)
}

const directory = await mkdtemp(join(tmpdir(), 'serve-dist-h2spec-'))
/** @type {import('node:child_process').ChildProcess[]} */
const servers = []
try {
  await makeCertificateWithGo(directory)
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')]
  const { spa } = await writeSites(directory, bin)
  const ofOurs = [bin, spa, '--port', '0', '--tls-cert', cert, '--tls-key', key]
  const [ours, streamed, node] = await Promise.all([
    judge('memory', ofOurs),
    judge('streamed', [...ofOurs, '--memory-budget', '0']),
    judge('node', [bare, cert, key]),
  ])
  console.log(`passed: ours ${count(ours)}, ours streamed ${count(streamed)}, Node alone ${count(node)}`)
  for (const [name, result] of node) if (result === 'failed') console.log(`  Node alone fails: ${name}`)
  const isWorse = new Set([...worseThan(node, ours), ...worseThan(node, streamed)])
  // Some of what h2spec asks is a race: what fails by its bad luck does not fail twice.
  const again = isWorse.size === 0 ? node : await judge('again', ofOurs)
  const worse = worseThan(node, again).filter((name) => isWorse.has(name))
  for (const name of worse) console.log(`✗ we fail, and Node alone does not: ${name}`)
  if (worse.length > 0 || ours.size === 0 || node.size === 0) process.exitCode = 1
} finally {
  for (const server of servers) server.kill('SIGKILL')
  await rm(directory, { recursive: true, force: true })
}

/**
 * Starts a server that says where it listens, and asks it everything.
 *
 * @param {string} name
 * @param {string[]} args
 * @returns {Promise<Map<string, 'passed' | 'failed' | 'skipped'>>} By the section and what is asked.
 */
async function judge(name, args) {
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  servers.push(server)
  const [line] = await once(server.stdout, 'data')
  const port = /:(\d+)\//.exec(String(line))?.[1]
  if (port === undefined) throw new Error(`the server did not say where it listens: ${String(line)}`)
  const report = join(directory, `${name}.xml`)
  // Two seconds are h2spec's own patience; where several servers share a core, an answer may take as long.
  const asked = ['--tls', '--insecure', '--port', port, '--timeout', '3', '--junit-report', report]
  await runCommand([h2spec ?? '', ...asked], { isQuiet: true, timeLimit: 240_000 })
  if (server.exitCode !== null) throw new Error(`the server (${name}) has ended`)
  return readResults(await readFile(report, 'latin1'))
}

/** @param {string} report What h2spec calls JUnit's format, though it does not escape what it received. */
function readResults(report) {
  /** @type {Map<string, 'passed' | 'failed' | 'skipped'>} */
  const results = new Map()
  for (const [, section, what, , rest = ''] of report.matchAll(
    /<testcase package="([^"]*)" classname="([^"]*)" time="([^"]*)">\s*(<failure|<error|<skipped)?/g,
  )) {
    results.set(`${section}: ${what}`, rest === '' ? 'passed' : rest === '<skipped' ? 'skipped' : 'failed')
  }
  return results
}

/**
 * @param {Map<string, string>} bar
 * @param {Map<string, string>} results
 */
function worseThan(bar, results) {
  return [...results.keys()].filter((name) => results.get(name) === 'failed' && bar.get(name) !== 'failed')
}

/** @param {Map<string, string>} results */
function count(results) {
  const passed = [...results.values()].filter((result) => result === 'passed').length
  return `${passed} of ${results.size}`
}
