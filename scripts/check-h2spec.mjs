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
/** How often something is asked again that only we fail. */
const repeats = 10

const h2spec = await installH2spec()
if (h2spec === undefined) {
  console.log('⚠ SKIPPED: nothing was asked about HTTP/2, for h2spec is not there')
  process.exit(0)
}

const directory = await mkdtemp(join(tmpdir(), 'serve-dist-h2spec-'))
/** @type {import('node:child_process').ChildProcess[]} */
const children = []
try {
  await makeCertificateWithGo(directory)
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')]
  const { spa } = await writeSites(directory, bin)
  const ofOurs = [bin, spa, '--port', '0', '--tls-cert', cert, '--tls-key', key]
  const [ours, streamed, node] = await Promise.all([
    start('memory', ofOurs),
    start('streamed', [...ofOurs, '--memory-budget', '0']),
    start('node', [bare, cert, key]),
  ])
  const [ofNode, ofMemory, ofStreamed] = await Promise.all([judge(node), judge(ours), judge(streamed)])
  console.log(
    `passed: ours ${count(ofMemory)}, ours streamed ${count(ofStreamed)}, Node alone ${count(ofNode)}`,
  )
  for (const name of failuresOf(ofNode)) console.log(`  Node alone fails: ${name}`)
  if (ofNode.size === 0 || ofMemory.size === 0 || ofStreamed.size === 0) {
    console.log('✗ h2spec has asked nothing')
    process.exitCode = 1
  }
  for (const { server, result } of [
    { server: ours, result: ofMemory },
    { server: streamed, result: ofStreamed },
  ]) {
    for (const name of failuresOf(result)) {
      if (ofNode.get(name) === 'failed') continue
      const [byUs, byNode] = [await countFailures(server, name), await countFailures(node, name)]
      const isWorse = byUs > 1 && byNode === 0
      const times = `${server.name} ${byUs} of ${repeats} times, Node alone ${byNode}`
      console.log(`${isWorse ? '✗ we fail' : '  a race'}: ${name}: ${times}`)
      if (isWorse) process.exitCode = 1
    }
  }
} finally {
  for (const child of children) child.kill('SIGKILL')
  await rm(directory, { recursive: true, force: true })
}

/**
 * @typedef {object} JudgedServer
 * @property {string} name
 * @property {string} port
 * @property {import('node:child_process').ChildProcess} child
 *
 * @typedef {Map<string, 'passed' | 'failed' | 'skipped'>} Results By the section and what is asked.
 */

/**
 * Starts a server that says where it listens.
 *
 * @param {string} name
 * @param {string[]} args
 * @returns {Promise<JudgedServer>}
 */
async function start(name, args) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  const [line] = await once(child.stdout, 'data')
  const port = /:(\d+)\//.exec(String(line))?.[1]
  if (port === undefined) throw new Error(`the server did not say where it listens: ${String(line)}`)
  return { name, port, child }
}

/**
 * Asks a server everything, or what one section asks.
 *
 * @param {JudgedServer} server
 * @param {string} [section] As `http2/6.9.1`.
 * @returns {Promise<Results>}
 */
async function judge({ name, port, child }, section = '') {
  const report = join(directory, `${name}.xml`)
  // Two seconds are h2spec's own patience; where several servers share a core, an answer may take as long.
  const asked = ['--tls', '--insecure', '--port', port, '--timeout', '3', '--junit-report', report]
  if (section !== '') asked.push(section)
  await runCommand([h2spec ?? '', ...asked], { isQuiet: true, timeLimit: 240_000 })
  if (child.exitCode !== null) throw new Error(`the server (${name}) has ended`)
  return readResults(await readFile(report, 'latin1'))
}

/**
 * How often a server fails what is asked. Some of it is a race: whether a stream is over by the time that
 * its fault comes is chance, and Node alone fails it as well, though perhaps not the first time.
 *
 * @param {JudgedServer} server
 * @param {string} name
 */
async function countFailures(server, name) {
  const [section] = name.split(': ', 1)
  let failures = 0
  for (let time = 0; time < repeats; time += 1) {
    const result = (await judge(server, section)).get(name)
    if (result === undefined) throw new Error(`h2spec knows it only among everything: ${name}`)
    if (result === 'failed') failures += 1
  }
  return failures
}

/** @param {string} report What h2spec calls JUnit's format, though it does not escape what it received. */
function readResults(report) {
  /** @type {Results} */
  const results = new Map()
  for (const [, section, what, , rest = ''] of report.matchAll(
    /<testcase package="([^"]*)" classname="([^"]*)" time="([^"]*)">\s*(<failure|<error|<skipped)?/g,
  )) {
    results.set(`${section}: ${what}`, rest === '' ? 'passed' : rest === '<skipped' ? 'skipped' : 'failed')
  }
  return results
}

/** @param {Results} results */
function failuresOf(results) {
  return [...results.keys()].filter((name) => results.get(name) === 'failed')
}

/** @param {Results} results */
function count(results) {
  const passed = [...results.values()].filter((result) => result === 'passed').length
  return `${passed} of ${results.size}`
}
