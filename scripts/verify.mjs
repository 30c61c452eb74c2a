// `npx --yes pnpm@12 verify`: from a fresh clone through the gate, on a machine with only Node and npm. With `--all`
// (`verify:all`) the checks follow that take long, or take programs of others.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { pnpmCommand } from './pnpm-command.mjs'
import { runStep } from './run-step.mjs'

// Two steps of a list run at the same time, because most of them use one core or wait for processes. The long ones come
// first.
const buildSteps = ['build:packages', 'typecheck', 'lint', 'format:check', 'knip', 'packaging']
const testSteps = ['test:http-native', 'test:http', 'test:e2e', 'test:build', 'engine', 'test:unit']
const furtherSteps = [
  'test:slow',
  'test:installers',
  'test:soak',
  'test:frameworks',
  'test:e2e-more',
  'test:vites',
  'test:http-native-more',
  'test:e2e-further',
  'test:http-more',
  'check:h2spec',
  'check:http',
  'test:build-more',
  'test:runtimes',
  'check:documents',
]
/** From the start. On a slow machine it leaves out the last steps, so that a run ends within an hour. */
const furtherDeadline = Date.now() + 56 * 60_000

process.on('exit', (code) => {
  if (code !== 0 && !isOver) console.log('\n0 passed, 1 failed, 0 skipped')
})
let isOver = false

// The same commit is judged by the same random tests; a nightly run draws its own.
process.env['SERVE_DIST_SEED'] ??= '2026'
console.log(`▸ SERVE_DIST_SEED=${process.env['SERVE_DIST_SEED']}`)
await runStep('Installing the dependencies', pnpmCommand('install', '--frozen-lockfile'), {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  fix: 'Check that this machine reaches its npm registry (`npm ping`); a lockfile that is behind is mended by `npx --yes pnpm@12 install`.',
})

// These modules need the dependencies.
const { ensureChromium } = await import('./ensure-chromium.mjs')
const { ensureVersitygw } = await import('./ensure-versitygw.mjs')
const { openGate } = await import('./gate.mjs')
const chromium = await ensureChromium()
// If this fails, the tests that need it print the error again.
const versitygw = ensureVersitygw().catch((/** @type {Error} */ error) => console.error(error.message))
if (chromium !== undefined) process.env['CHROMIUM_PATH'] = chromium
const gate = await openGate()
// The tests of the crates need this profile too, so that each crate is compiled once.
process.env['SERVE_DIST_ENGINE_PROFILE'] = 'dev'
const built = gate.run(buildSteps).then(() => {
  process.env['SERVE_DIST_IS_BUILT'] = '1'
  // It needs no engine, which takes longer.
  return gate.run(['test:unit-precompress'])
})
await Promise.all([gate.run(['build:engine']), built, versitygw])
const isNative = await hasEngine()
await runByTwo(testSteps)
// It counts allocations and calls of the file system, so it runs alone.
await gate.run(['test:speed'])
if (process.argv.includes('--all')) {
  delete process.env['SERVE_DIST_ENGINE_PROFILE']
  await gate.run(['build:engine'])
  await runByTwo(furtherSteps, furtherDeadline)
  // It needs the kernel's memory for TCP alone.
  await gate.run(['test:stalled'], furtherDeadline)
}
const isGreen = gate.close()
isOver = true
if (!isGreen) process.exitCode = 1

/**
 * @param {readonly string[]} steps
 * @param {number} [deadline] In milliseconds since 1970.
 */
async function runByTwo(steps, deadline) {
  const next = steps.filter((step) => isNative || !step.startsWith('test:http-native')).values()
  await Promise.all([gate.run(next, deadline), gate.run(next, deadline)])
}

/** Returns whether the native engine must be tested: it loads, it was compiled, or GitHub's runner must have it. */
async function hasEngine() {
  const { loadEngine } = await import('../packages/engine/dist/index.js')
  const engine = loadEngine()
  if (typeof engine !== 'string') return true
  const isCompiled = existsSync(new URL('../packages/engine/dist/engine.node', import.meta.url))
  console.error(`The suites do not run over the native engine: ${engine}`)
  // Without an addon there is no such project, which is an error.
  return isCompiled || (process.env['GITHUB_ACTIONS'] !== undefined && process.platform !== 'win32')
}
