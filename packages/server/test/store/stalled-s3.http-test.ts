import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { shortId } from '@serve-dist/foundation/text/short-id'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { SeenRequest } from '../../../store/test/support/start-fault-proxy.ts'
import { s3Environment } from '../../../store/test/support/start-s3.ts'
import { startFaultyS3 } from '../../../store/test/support/start-faulty-s3.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { publishFiles } from '../support/publish-files.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const faulty = await startFaultyS3()
afterAll(() => void vi.unstubAllEnvs())

const first = { 'index.html': 'first', 'assets/large-1.bin': Buffer.alloc(300_000, 'abcdefg') }
const second = { 'index.html': 'second', 'assets/large-2.bin': Buffer.alloc(300_000, 'hijklmn') }

const isOf =
  (folder: string) =>
  ({ path }: SeenRequest): boolean =>
    path.includes(`/site/${folder}/`)
const isList = ({ query }: SeenRequest): boolean => query.includes('list-type')

describe.runIf(faulty !== undefined)('while a store in S3 does not respond', () => {
  if (faulty === undefined) return
  const { s3, proxy } = faulty
  let store: string
  let short: readonly string[]
  beforeAll(async () => {
    for (const [name, value] of Object.entries(s3Environment(proxy.endpoint, s3.root)))
      vi.stubEnv(name, value)
    store = `s3://${await s3.bucket()}/site`
    const builds = [await publishFiles(store, first), await publishFiles(store, second)]
    short = builds.map(({ buildId }) => shortId(buildId))
  })

  /** Never answers requests of this kind. Settles at the first one. */
  function stall(isStalled: (seen: SeenRequest) => boolean): Promise<unknown> {
    proxy.fail((seen) => ({ stalls: isStalled(seen) }))
    const before = proxy.seen.length
    return vi.waitUntil(() => proxy.seen.slice(before).some(isStalled), { timeout: 15_000, interval: 5 })
  }
  async function stopped(
    words: readonly string[],
    isStalled: (seen: SeenRequest) => boolean,
  ): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
    const stalled = stall(isStalled)
    const { child, exited } = spawnCommand([...words, '--store', store])
    await stalled
    child.kill('SIGINT')
    const end = await exited
    return end
  }

  test.each<[string, (seen: SeenRequest) => boolean, () => string]>([
    ['generations', isOf('generations'), () => 'nothing was changed'],
    ['rollback', isList, () => `${short[1]} is current in ${store}`],
    [
      'purge',
      isOf('generations'),
      () => `${short[1]} is current in ${store}. Run purge again to delete the rest.`,
    ],
    [
      'rollback',
      () => true,
      () => 'the store does not answer. Run serve-dist generations later to see which build is current.',
    ],
  ])('SIGINT ends %s with a correct message', async (command, isStalled, state) => {
    const words = command === 'purge' ? [command, short[0] ?? ''] : [command]
    expect(await stopped(words, isStalled)).toEqual({
      code: 130,
      stdout: '',
      stderr: `serve-dist: stopped: ${state()}\n`,
    })
  })

  test.each([
    ['reads existing objects', isOf('blobs')],
    ['lists', isList],
    ['tests conditional writes', isOf('probes')],
  ])('SIGINT ends publish --verify while it %s', async (_what, isStalled) => {
    const folder = await buildFixture({ ...first, 'index.html': 'third' })
    expect(await stopped(['publish', folder, '--verify'], isStalled)).toEqual({
      code: 130,
      stdout: '',
      stderr: `serve-dist: stopped: ${short[1]} is current in ${store} as before. Publish again to upload the missing files.\n`,
    })
  })

  test('close() does not wait for the store, and the process ends', async () => {
    const script = fileURLToPath(new URL('../support/serve-until-sigterm.mjs', import.meta.url))
    const cache = join(await temporaryDirectory(), 'cache')
    const child = spawn(process.execPath, [script, store, cache], { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [url] = await once(child.stdout.setEncoding('utf8'), 'data')
    const stalled = [stall(isOf('blobs')), stall(() => true)]
    const answer = fetch(new URL('assets/large-1.bin', String(url))).catch(() => undefined)
    await Promise.all(stalled)
    child.kill('SIGTERM')
    const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
    expect([said, code]).toEqual(['closed\n', 0])
    await answer
  })
})
