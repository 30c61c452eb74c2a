import type { Manifest } from '@serve-dist/manifest'
import type { Browser } from 'playwright'
import type { BuiltExample } from './built-example.ts'
import { launchChromium } from './launch-chromium.ts'
import { readManifest } from './read-manifest.ts'
import { startCommand } from './start-command.ts'
import { type Exchange, startRecordingProxy } from './start-recording-proxy.ts'

/** An example that the command serves, with a Chromium and a record of all exchanges. */
export interface ServedExample {
  readonly manifest: Manifest
  readonly browser: Browser
  /** The URL of the example, with its base. */
  readonly url: URL
  /** Returns the exchanges since the last call. */
  takeExchanges(): Exchange[]
  close(): Promise<void>
}

/** Serves a built example with the command, and starts a Chromium for it. */
export async function serveToChromium(example: BuiltExample): Promise<ServedExample> {
  const manifest = await readManifest(example.dist)
  const server = await startCommand(example.command, { args: ['--port', '0'], cwd: example.project })
  const proxy = await startRecordingProxy(server.url)
  const browser = await launchChromium()
  return {
    manifest,
    browser,
    url: proxy.url,
    takeExchanges: () => proxy.take(),
    close: async () => {
      await browser.close()
      await proxy.close()
      await server.stop()
    },
  }
}
