// `npx --yes pnpm@12 verify`: from a fresh clone through the whole gate, on a machine with only Node and npm.
import { fileURLToPath } from 'node:url'
import { pnpmCommand } from './pnpm-command.mjs'
import { runStep } from './run-step.mjs'

process.on('exit', (code) => {
  if (code !== 0 && !hasRunGate) console.log('\n0 passed, 1 failed, 0 skipped')
})
let hasRunGate = false

await runStep('Installing the dependencies', pnpmCommand('install', '--frozen-lockfile'), {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  fix: 'Check that this machine reaches its npm registry (`npm ping`); a lockfile that is behind is mended by `npx --yes pnpm@12 install`.',
})

// What needs the dependencies is imported only once they are there.
const { ensureChromium } = await import('./ensure-chromium.mjs')
const { runGate } = await import('./run-gate.mjs')
const chromium = await ensureChromium()
const isGreen = await runGate(chromium === undefined ? {} : { CHROMIUM_PATH: chromium })
hasRunGate = true
if (!isGreen) process.exitCode = 1
