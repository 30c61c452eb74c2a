import { describe, expect, test, vi } from 'vitest'
import { loadSite } from '../../src/load/load-site.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { playScript } from '../support/native/client-script.ts'
import { randomScript } from '../support/native/random-script.ts'
import { vocabularyOf } from '../support/native/vocabulary-of.ts'
import { type Holdings, startSoakCommand } from '../support/soak/soak-command.ts'
import { createRandom } from '../support/soak/soak-random.ts'
import { soakSites } from '../support/soak/soak-sites.ts'
import { hasNative } from '../support/tested-engine.ts'

const seed = Number(process.env['SERVE_DIST_SEED'])
const seconds = Number(process.env['SERVE_DIST_SOAK_SECONDS'] ?? 100)
const clients = 24
/** The requests after which the resident memory has its final size: 70 MB for streamed files, 62 MB after 3,000 requests. */
const fewestToWarmUp = 16_000

const ways: readonly (readonly [how: string, flags: readonly string[]])[] = [
  ['from memory', ['--engine', 'node']],
  ['streamed', ['--engine', 'node', '--memory-budget', '0']],
  ['by the native engine', ['--engine', 'native']],
]
const cases = Object.entries(soakSites).flatMap(([name, site]) =>
  ways.slice(0, hasNative ? 3 : 2).map(([how, flags]) => [`${name}, ${how}`, site, flags] as const),
)

// The test counts descriptors in /proc, and requests counts by signals. The differential test compares the
// answers.
describe.skipIf(process.platform !== 'linux')(`random requests (SERVE_DIST_SEED=${seed})`, () => {
  test.each(cases)(
    'leave no memory or descriptor behind: %s',
    async (_name, site, flags) => {
      const directory = await buildFixture(site.files, site.options)
      const vocabulary = vocabularyOf(await loadSite(directory))
      const { port, child, exited, complaints, measure } = await startSoakCommand([directory, ...flags])
      const askHalf = async (first: number, fewest: number, most: number): Promise<number> => {
        const end = performance.now() + (seconds * 1000) / cases.length / 2
        let [scripts, sent] = [0, 0]
        const client = async (): Promise<void> => {
          while ((performance.now() < end || sent < fewest) && sent < most) {
            const script = randomScript(createRandom(first + scripts), vocabulary)
            scripts += 1
            sent += script.requests.length
            // Closing this half avoids an idle wait of one second.
            await playScript(port, { ...script, closesHalf: true })
          }
        }
        await Promise.all(Array.from({ length: clients }, client))
        return sent
      }

      const warmUp = await askHalf(seed + 1_000_000, fewestToWarmUp, Infinity)
      const before = await settled(measure)
      // If the machine was busy during the warm-up, further requests would allocate more memory.
      const answers = await askHalf(seed, 0, warmUp)
      const after = await settled(measure)

      console.log(`${warmUp} + ${answers} requests`, { before, after })
      expect(answers).toBeGreaterThan(100)
      expect(after.descriptors).toBeLessThanOrEqual(before.descriptors)
      expect(after.heap).toBeLessThanOrEqual(before.heap * 1.1)
      expect(after.rss).toBeLessThanOrEqual(before.rss * 1.1)
      expect(complaints()).toBe('')
      child.kill('SIGTERM')
      expect((await exited).code).toBe(0)
    },
    (seconds + 120) * 1000,
  )
})

/** Measures a server after it has closed all connections. */
async function settled(measure: () => Promise<Holdings>): Promise<Holdings> {
  return vi.waitFor(
    async () => {
      const holdings = await measure()
      expect(holdings.sockets).toBe(0)
      return holdings
    },
    { timeout: 10_000, interval: 200 },
  )
}
