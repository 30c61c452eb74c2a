import { type Browser, chromium } from 'playwright'
import { findChromium } from '../../scripts/find-chromium.mjs'

/** The path of Chromium. `undefined` skips the browser tests, or fails them if `CI` is set. */
export const chromiumPath: string | undefined = findChromium(chromium.executablePath())

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Starts this machine's Chromium without a window. Adds flags to the usual ones. */
export function launchChromium(more: readonly string[] = []): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('no Chromium on this machine; set CHROMIUM_PATH')
  return chromium.launch({ executablePath: chromiumPath, args: [...flags, ...more] })
}
