import { describe, expect, test, vi } from 'vitest'
import { loadSite } from '../../src/load/load-site.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { compareEngines } from '../support/native/compare-engines.ts'
import { vocabularyOf } from '../support/native/vocabulary-of.ts'
import { type Holdings, type SoakCommand, startSoakCommand } from '../support/soak/soak-command.ts'
import { soakSites } from '../support/soak/soak-sites.ts'
import { hasNative } from '../support/tested-engine.ts'

const seed = Number(process.env['SERVE_DIST_SEED'])
const seconds = Number(process.env['SERVE_DIST_SOAK_SECONDS'] ?? 100)

const fromMemory: readonly string[] = ['--engine', 'node']
const streamed: readonly string[] = ['--engine', 'node', '--memory-budget', '0']
const pairs: readonly (readonly [how: string, one: readonly string[], other: readonly string[]])[] = [
  ['from memory and streamed', fromMemory, streamed],
  ['from memory and by the native engine', fromMemory, ['--engine', 'native']],
]
const cases = Object.entries(soakSites).flatMap(([name, site]) =>
  pairs.slice(0, hasNative ? 2 : 1).map(([how, ...flags]) => [`${name}, ${how}`, site, flags] as const),
)

// The test counts descriptors in /proc, and asks for counts by signals.
describe.skipIf(process.platform !== 'linux')(`random requests (SERVE_DIST_SEED=${seed})`, () => {
  test.each(cases)(
    'are answered alike, and leave no memory or descriptor behind: %s',
    async (_name, site, flags) => {
      const directory = await buildFixture(site.files, site.options)
      const vocabulary = vocabularyOf(await loadSite(directory))
      const commands: SoakCommand[] = []
      for (const each of flags) commands.push(await startSoakCommand([directory, ...each]))
      const [node = 0, native = 0] = commands.map(({ port }) => port)
      const areBothNode = !flags.flat().includes('native')
      const half = (seconds * 1000) / cases.length / 2
      const askHalf = async (first: number, most: number): Promise<number> => {
        const end = performance.now() + half
        let sent = 0
        for (let part = first; performance.now() < end && sent < most; part += 1) {
          const options = { seed: part, requests: 500, vocabulary }
          sent += await compareEngines({ node, native, areBothNode }, options)
        }
        return sent
      }

      const warmUp = await askHalf(seed + 100_000, Infinity)
      const before = await Promise.all(commands.map(settled))
      // Memory grows with the first requests on a machine that was busy during the warm-up.
      const answers = await askHalf(seed, warmUp)
      const after = await Promise.all(commands.map(settled))

      console.log(`${warmUp} + ${answers} answers`, { before, after })
      expect(answers).toBeGreaterThan(100)
      for (const [index, { descriptors, heap, rss }] of after.entries()) {
        expect(descriptors).toBeLessThanOrEqual(before[index]?.descriptors ?? 0)
        expect(heap).toBeLessThanOrEqual((before[index]?.heap ?? 0) * 1.1)
        expect(rss).toBeLessThanOrEqual((before[index]?.rss ?? 0) * 1.1)
      }
      for (const { child, exited, complaints } of commands) {
        expect(complaints()).toBe('')
        child.kill('SIGTERM')
        expect((await exited).code).toBe(0)
      }
    },
    (seconds + 120) * 1000,
  )
})

/** Measures a server once it has noticed that all its clients have gone. */
async function settled({ measure }: SoakCommand): Promise<Holdings> {
  return vi.waitFor(
    async () => {
      const holdings = await measure()
      expect(holdings.sockets).toBe(0)
      return holdings
    },
    { timeout: 10_000, interval: 200 },
  )
}
