import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { findChromium } from './find-chromium.mjs'
import { runCommand } from './run-command.mjs'

const fromE2e = createRequire(new URL('../e2e/package.json', import.meta.url))
/** The path of the Chromium that playwright downloads. */
const downloaded = fromE2e('playwright').chromium.executablePath()

/**
 * Finds a Chromium on this machine, or installs one with playwright or from the distribution's packages.
 *
 * @returns {Promise<string | undefined>} The path of a Chromium that starts; `undefined` if none starts.
 */
export async function ensureChromium() {
  let found = findChromium(downloaded)
  if (found === undefined) {
    const cli = join(dirname(fromE2e.resolve('playwright/package.json')), 'cli.js')
    await install([process.execPath, cli, 'install', 'chromium'])
    found = findChromium(downloaded)
  }
  if (found === undefined && process.platform === 'linux' && process.getuid?.() === 0) {
    await install(['apt-get', 'update', '-q'])
    // The programs brotli and zstd decode independently of the encoder; without them, tests use libraries. Tests run
    // commands of the documents, which need the other packages.
    const packages = ['chromium', 'brotli', 'zstd', 'rsync', 'zip']
    await install(['apt-get', 'install', '-y', '-q', '--no-install-recommends', ...packages])
    found = findChromium(downloaded)
  }
  if (found === undefined)
    console.error('✗ Cannot install Chromium. Set CHROMIUM_PATH to its program and run again.')
  else console.log(`▸ Chromium: ${found}`)
  return found
}

/** @param {[string, ...string[]]} command */
async function install(command) {
  console.log(`▸ Installing Chromium: ${command.join(' ')}`)
  const environment = { DEBIAN_FRONTEND: 'noninteractive' }
  const { exitCode, output } = await runCommand(command, {
    environment,
    isQuiet: true,
    timeLimit: 5 * 60_000,
  })
  if (exitCode !== 0) console.error(output.trimEnd().split('\n').slice(-5).join('\n'))
}
