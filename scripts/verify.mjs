// `npx --yes pnpm@12 verify`: runs the gate in a fresh clone, on a machine with only Node and npm. With `--all`
// (`verify:all`), it also runs slow checks and checks that need other programs.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { pnpmCommand } from './pnpm-command.mjs'
import { runStep } from './run-step.mjs'

// One lane compiles Rust while the other one has phases with a single thread.
const lanes = [
  ['build:engine', 'engine'],
  ['build:packages', 'typecheck', 'lint', 'format:check', 'knip', 'packaging'],
]
const tests = ['unit', 'unit-precompress', 'http', 'http-native', 'speed', 'build', 'e2e']
const furtherTests = [
  'http-native-more',
  'vites',
  'runtimes',
  'e2e-further',
  'e2e-more',
  'frameworks',
  'installers',
  'slow',
  'soak',
]
const furtherChecks = ['check:documents', 'check:http', 'check:h2spec']
const furtherTimeLimit = 40 * 60_000

process.on('exit', (code) => {
  if (code !== 0 && !isOver) console.log('\n0 passed, 1 failed, 0 skipped')
})
let isOver = false

// The same commit gets the same random tests. A nightly run chooses its own seed.
process.env['SERVE_DIST_SEED'] ??= '2026'
console.log(`▸ SERVE_DIST_SEED=${process.env['SERVE_DIST_SEED']}`)
await runStep('Installing the dependencies', pnpmCommand('install', '--frozen-lockfile'), {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  fix: 'Check that this machine reaches its npm registry (`npm ping`). If the lockfile is outdated, run `npx --yes pnpm@12 install`.',
})

// These modules need the dependencies, which are installed now.
const { ensureChromium } = await import('./ensure-chromium.mjs')
const { ensureVersitygw } = await import('./ensure-versitygw.mjs')
const { openGate } = await import('./gate.mjs')
const chromium = await ensureChromium()
// The tests of S3 repeat this message.
await ensureVersitygw().catch((/** @type {Error} */ error) => console.error(error.message))
if (chromium !== undefined) process.env['CHROMIUM_PATH'] = chromium
const gate = await openGate()
// The tests of the crates need this profile too, so that each crate is compiled once.
process.env['SERVE_DIST_ENGINE_PROFILE'] = 'dev'
await Promise.all(lanes.map((checks) => gate.run(checks)))
process.env['SERVE_DIST_IS_BUILT'] = '1'
const isNative = await hasEngine()
await gate.run(testsOf(tests))
if (process.argv.includes('--all')) {
  delete process.env['SERVE_DIST_ENGINE_PROFILE']
  await gate.run(['build:engine', ...testsOf(furtherTests), ...furtherChecks], furtherTimeLimit)
}
const isGreen = gate.close()
isOver = true
if (!isGreen) process.exitCode = 1

/** @param {readonly string[]} projects */
function testsOf(projects) {
  return projects.filter((name) => isNative || !name.startsWith('http-native')).map((name) => `test:${name}`)
}

/**
 * Tells whether the suites run with the native engine. They also do if a compiled engine does not load, and on GitHub's
 * runners: then its tests fail.
 */
async function hasEngine() {
  const { loadEngine } = await import('../packages/engine/dist/index.js')
  const engine = loadEngine()
  if (typeof engine !== 'string') return true
  const isCompiled = existsSync(new URL('../packages/engine/dist/engine.node', import.meta.url))
  console.error(`The suites do not run with the native engine: ${engine}`)
  // Without an addon, the vitest project does not exist, which is an error.
  return isCompiled || (process.env['GITHUB_ACTIONS'] !== undefined && process.platform !== 'win32')
}
