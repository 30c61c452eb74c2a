import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { findChromium } from './find-chromium.mjs'
import { runCommand } from './run-command.mjs'

const fromE2e = createRequire(new URL('../e2e/package.json', import.meta.url))
/** Where playwright puts the Chromium that it downloads. */
const downloaded = fromE2e('playwright').chromium.executablePath()
const downloadTimeLimit = 5 * 60_000

/**
 * The path of a Chromium that starts: one of the machine's, else one that playwright downloads, else
 * one of the distribution's packages where we may install it; `undefined` where none can be had.
 *
 * @returns {Promise<string | undefined>}
 */
export async function ensureChromium() {
  const found = findChromium(downloaded)
  if (found !== undefined) {
    console.log(`▸ Chromium: ${found}`)
    return found
  }
  console.log('▸ Installing Chromium with playwright')
  await installWithPlaywright()
  const fetched = findChromium(downloaded)
  if (fetched !== undefined) return fetched

  if (process.platform === 'linux' && process.getuid?.() === 0) {
    console.log('▸ Installing Chromium with apt-get')
    await installWithApt()
  }
  const installed = findChromium(downloaded)
  if (installed === undefined) {
    console.error('✗ No Chromium could be installed; set CHROMIUM_PATH to the program of one and run again.')
  }
  return installed
}

async function installWithPlaywright() {
  const cli = join(dirname(fromE2e.resolve('playwright/package.json')), 'cli.js')
  await show([process.execPath, cli, 'install', 'chromium'])
}

async function installWithApt() {
  const environment = { DEBIAN_FRONTEND: 'noninteractive' }
  if (!(await show(['apt-get', 'update', '-q'], environment))) return
  // brotli and zstd come along as decoders that are not the encoder's; without them libraries do it. The others stand in
  // commands of the documents, which tests run.
  const packages = ['chromium', 'brotli', 'zstd', 'rsync', 'zip']
  await show(['apt-get', 'install', '-y', '-q', '--no-install-recommends', ...packages], environment)
}

/**
 * @param {[string, ...string[]]} command
 * @param {Record<string, string>} [environment]
 */
async function show(command, environment = {}) {
  const { exitCode, output } = await runCommand(command, {
    environment,
    isQuiet: true,
    timeLimit: downloadTimeLimit,
  })
  if (exitCode !== 0) console.error(output.trimEnd().split('\n').slice(-5).join('\n'))
  return exitCode === 0
}
