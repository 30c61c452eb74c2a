// `pnpm check:h2spec`: runs h2spec against both engines and against Node alone. Our engines must not be worse than Node.
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { judgedEngines } from './judges/judged-engines.mjs'
import { writeSites } from './judges/write-sites.mjs'
import { runCommand } from './run-command.mjs'
import { startProgram } from './start-program.mjs'

// Later versions were published without the module name that Go requires.
const program = 'github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible'
const folder = fileURLToPath(new URL('../node_modules/.cache/h2spec', import.meta.url))
const bin = fileURLToPath(new URL('../packages/server/bin/serve-dist.js', import.meta.url))
const bare = fileURLToPath(new URL('judges/bare-http2.mjs', import.meta.url))
/** The number of repetitions of a test that only our engine fails. */
const repeats = 10

/** @typedef {{ name: string, port: string }} JudgedServer */
/** @typedef {import('./start-program.mjs').RunningProgram} RunningProgram */
/** @typedef {Map<string, 'passed' | 'failed' | 'skipped'>} Results By section and test. */

await installH2spec()
const directory = await mkdtemp(join(tmpdir(), 'serve-dist-h2spec-'))
try {
  await makeCertificate()
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')]
  const { spa } = await writeSites(directory, bin)
  const ofOurs = [bin, spa, '--port', '0', '--tls-cert', cert, '--tls-key', key]
  /** @type {RunningProgram[]} */
  const running = []
  /** @param {string} name @param {string[]} args @returns {Promise<JudgedServer>} */
  const start = async (name, ...args) => {
    const started = await startProgram([process.execPath, ...args])
    running.push(started)
    return { name, port: started.url.port }
  }
  const node = await start('Node alone', bare, cert, key)
  const ours = []
  for (const engine of judgedEngines()) {
    const ofEngine = [...ofOurs, '--engine', engine]
    ours.push(await start(`engine ${engine}`, ...ofEngine))
    ours.push(await start(`engine ${engine} streamed`, ...ofEngine, '--memory-budget', '0'))
  }
  const ofNode = await judge(node)
  for (const name of failuresOf(ofNode)) console.log(`  Node alone fails: ${name}`)
  for (const server of ours) {
    const worse = failuresOf(await judge(server)).filter((name) => ofNode.get(name) !== 'failed')
    for (const name of worse) await compare(server, node, name)
  }
  if (!running.every((server) => server.isAlive())) throw new Error('a server has ended')
  await Promise.all(running.map((server) => server.stop()))
} finally {
  await rm(directory, { recursive: true, force: true })
}

/** Builds h2spec from its sources. Ends this program if that fails. */
async function installH2spec() {
  await mkdir(folder, { recursive: true })
  const options = { environment: { GOBIN: folder }, isQuiet: true, timeLimit: 240_000 }
  const { exitCode, output } = await runCommand(['go', 'install', program], options)
  if (exitCode === 0) return
  console.log(`${output.trimEnd()}\n⚠ SKIPPED: h2spec cannot be built, so HTTP/2 was not tested`)
  process.exit(process.env['CI'] === undefined ? 77 : 1)
}

/** Writes `cert.pem` and `key.pem` for 127.0.0.1, with a program of the Go distribution. */
async function makeCertificate() {
  const { output } = await runCommand(['go', 'env', 'GOROOT'], { isQuiet: true })
  const generator = join(output.trim(), 'src/crypto/tls/generate_cert.go')
  const flags = ['--host', '127.0.0.1', '--ecdsa-curve', 'P256']
  const made = await runCommand(['go', 'run', generator, ...flags], { cwd: directory, isQuiet: true })
  if (made.exitCode !== 0) throw new Error(`cannot make a certificate:\n${made.output}`)
}

/**
 * Runs all tests, or those of one section, against a server.
 *
 * @param {JudgedServer} server
 * @param {string} [section] Such as `http2/6.9.1`.
 * @returns {Promise<Results>}
 */
async function judge({ name, port }, section) {
  const report = join(directory, 'report.xml')
  // h2spec waits for two seconds by default. If several servers share a core, an answer may take as long.
  const asked = ['--tls', '--insecure', '--port', port, '--timeout', '3', '--junit-report', report]
  if (section !== undefined) asked.push(section)
  await runCommand([join(folder, 'h2spec'), ...asked], { isQuiet: true, timeLimit: 240_000 })
  const results = readResults(await readFile(report, 'latin1'))
  await rm(report)
  if (results.size === 0) throw new Error(`h2spec ran no test against ${name}`)
  const passed = [...results.values()].filter((result) => result === 'passed').length
  if (section === undefined) console.log(`${name}: ${passed} of ${results.size} passed`)
  return results
}

/**
 * Repeats a failed test. Some tests of h2spec depend on timing: a stream may end before the fault arrives. Node alone
 * also fails them, but not always.
 *
 * @param {JudgedServer} server
 * @param {JudgedServer} node
 * @param {string} name
 */
async function compare(server, node, name) {
  const [section] = name.split(': ', 1)
  const failures = [0, 0]
  for (let time = 0; time < repeats; time += 1) {
    for (const [index, judged] of [server, node].entries()) {
      if ((await judge(judged, section)).get(name) === 'failed') failures[index] = (failures[index] ?? 0) + 1
    }
  }
  const [byUs = 0, byNode = 0] = failures
  const isWorse = byUs > 1 && byNode === 0
  const times = `${server.name} ${byUs} of ${repeats} times, Node alone ${byNode}`
  console.log(`${isWorse ? '✗ we fail' : '  a race'}: ${name}: ${times}`)
  if (isWorse) process.exitCode = 1
}

/** @param {string} report JUnit's format, but h2spec does not escape the bytes that it received. */
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
