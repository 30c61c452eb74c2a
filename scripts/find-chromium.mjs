import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * Finds a Chromium, Chrome or Edge that starts on this machine. If `CHROMIUM_PATH` is set, it tries only that path.
 *
 * @param {string} downloaded The path of the Chromium that playwright downloads.
 * @returns {string | undefined} Its path.
 */
export function findChromium(downloaded) {
  const chosen = process.env['CHROMIUM_PATH']
  const candidates = chosen ? [chosen] : [...onPath(), ...usualPlaces(), downloaded]
  return candidates.find((path) => existsSync(path) && starts(path))
}

/** Tests whether it starts: Ubuntu's `chromium-browser` without its snap, and a download without libraries, do not. */
function starts(/** @type {string} */ path) {
  // Chrome for Windows opens a window at `--version`.
  if (process.platform === 'win32') return true
  return spawnSync(path, ['--version'], { stdio: 'ignore', timeout: 20_000 }).status === 0
}

function onPath() {
  if (process.platform === 'win32') return []
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return names.flatMap((name) => folders.map((folder) => join(folder, name)))
}

function usualPlaces() {
  const ofWindows = ['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA'].flatMap((name) =>
    ['Google/Chrome/Application/chrome.exe', 'Microsoft/Edge/Application/msedge.exe'].map((program) =>
      join(process.env[name] ?? '', program),
    ),
  )
  const ofMac = ['Google Chrome', 'Chromium', 'Microsoft Edge'].map(
    (name) => `/Applications/${name}.app/Contents/MacOS/${name}`,
  )
  return process.platform === 'win32' ? ofWindows : ofMac
}
