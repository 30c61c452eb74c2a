import { vi } from 'vitest'
import { sendRequest } from './send-request.ts'

/** Waits until a server says that it serves a build. */
export async function waitUntilCurrent(url: URL, buildId: string): Promise<void> {
  const address = new URL('__serve-dist/build.json', url)
  await vi.waitFor(async () => {
    const found = (await sendRequest(address)).body.toString()
    if (!found.includes(buildId)) throw new Error(`${address.href} says ${found} in the place of ${buildId}`)
  }, 10_000)
}
