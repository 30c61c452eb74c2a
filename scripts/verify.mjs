// `npx --yes pnpm@12 verify`: from a fresh clone through the gate, on a machine with only Node and npm. With `--all`
// (`verify:all`) the checks follow that take long, or take programs of others.
import { fileURLToPath } from 'node:url'
import { pnpmCommand } from './pnpm-command.mjs'
import { runStep } from './run-step.mjs'

const checks = ['build', 'typecheck', 'lint', 'format:check', 'knip', 'engine', 'packaging']
const tests = ['unit', 'unit-precompress', 'http', 'speed', 'build', 'e2e']
const furtherTests = ['vites', 'runtimes', 'e2e-more', 'frameworks', 'installers', 'slow', 'soak']
const furtherChecks = ['check:documents', 'check:http', 'check:h2spec']
const furtherTimeLimit = 40 * 60_000

process.on('exit', (code) => {
  if (code !== 0 && !isOver) console.log('\n0 passed, 1 failed, 0 skipped')
})
let isOver = false

await runStep('Installing the dependencies', pnpmCommand('install', '--frozen-lockfile'), {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  fix: 'Check that this machine reaches its npm registry (`npm ping`); a lockfile that is behind is mended by `npx --yes pnpm@12 install`.',
})

// What needs the dependencies is imported only once they are there.
const { ensureChromium } = await import('./ensure-chromium.mjs')
const { ensureVersitygw } = await import('./ensure-versitygw.mjs')
const { openGate } = await import('./gate.mjs')
const chromium = await ensureChromium()
// Their tests say it again.
await ensureVersitygw().catch((/** @type {Error} */ error) => console.error(error.message))
const gate = await openGate(chromium === undefined ? {} : { CHROMIUM_PATH: chromium })
await gate.run(checks)
await gate.run([...tests, ...(await testsOfEngine())].map((name) => `test:${name}`))
if (process.argv.includes('--all')) {
  await gate.run([...furtherTests.map((name) => `test:${name}`), ...furtherChecks], furtherTimeLimit)
}
const isGreen = gate.close()
isOver = true
if (!isGreen) process.exitCode = 1

/** The suite over the native engine, where that was compiled or installed; where it should have been, and on GitHub's runners, it fails. */
async function testsOfEngine() {
  const { loadEngine } = await import('../packages/engine/dist/index.js')
  const engine = loadEngine()
  if (typeof engine !== 'string') return ['http-native']
  const { whyNoCargo } = await import('../packages/engine/find-cargo.mjs')
  const isCompiled = (await whyNoCargo()) === undefined
  const isWanted = isCompiled || (process.env['GITHUB_ACTIONS'] !== undefined && process.platform !== 'win32')
  if (isCompiled) console.error(`The native engine was compiled and does not load: ${engine}`)
  else console.log(`The suite is not run over the native engine: ${engine}`)
  // Without an addon there is no such project, which is an error.
  return isWanted ? ['http-native'] : []
}
