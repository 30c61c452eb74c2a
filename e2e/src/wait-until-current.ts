import { vi } from 'vitest'
import { sendRequest } from './send-request.ts'

/** Waits until a server reports a build as current. */
export async function waitUntilCurrent(url: URL, buildId: string): Promise<void> {
  const address = new URL('__serve-dist/build.json', url)
  await vi.waitFor(async () => {
    const found = (await sendRequest(address)).body.toString()
    if (!found.includes(buildId)) throw new Error(`${address.href} reports ${found} instead of ${buildId}`)
  })
}
