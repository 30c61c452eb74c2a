import { describe, expect, test, vi } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { type Holdings, startSoakCommand } from '../support/soak/soak-command.ts'
import { soakConnection } from '../support/soak/soak-connection.ts'
import { createModel, type SoakModel } from '../support/soak/soak-model.ts'
import { createRandom } from '../support/soak/soak-random.ts'
import { soakSites } from '../support/soak/soak-sites.ts'
import { hasNative } from '../support/tested-engine.ts'

const seed = Number(process.env['SERVE_DIST_SEED'])
const seconds = Number(process.env['SERVE_DIST_SOAK_SECONDS'] ?? 100)
const connections = 6

const ways: readonly (readonly [how: string, flags: readonly string[]])[] = [
  ['from memory', []],
  ['streamed', ['--memory-budget', '0']],
  ['by the native engine', ['--engine', 'native']],
]
const cases = Object.entries(soakSites).flatMap(([name, site]) =>
  ways.slice(0, hasNative ? 3 : 2).map(([how, flags]) => [`${name}, ${how}`, site, flags] as const),
)

// Descriptors are counted in /proc, and signals carry the questions.
describe.skipIf(process.platform !== 'linux')(`random requests (SERVE_DIST_SEED=${seed})`, () => {
  test.each(cases)(
    'are answered as the contract says, and cost nothing that stays: %s',
    async (_name, site, flags) => {
      const directory = await buildFixture(site.files, site.options)
      const model = await createModel(directory)
      const command = await startSoakCommand([directory, ...flags])
      const milliseconds = (seconds * 1000) / cases.length

      const warmUp = await ask({ port: command.port, model, seed: seed + 1, milliseconds: milliseconds / 2 })
      const before = await settled(command.measure)
      const answers = await ask({ port: command.port, model, seed, milliseconds: milliseconds / 2 })
      const after = await settled(command.measure)

      console.log(`${warmUp} + ${answers} answers`, { before, after })
      expect(answers).toBeGreaterThan(100)
      expect(after.descriptors).toBeLessThanOrEqual(before.descriptors)
      expect(after.heap).toBeLessThanOrEqual(before.heap * 1.1)
      expect(after.rss).toBeLessThanOrEqual(before.rss * 1.1)
      expect(command.complaints()).toBe('')
      command.child.kill('SIGTERM')
      expect((await command.exited).code).toBe(0)
    },
    (seconds + 120) * 1000,
  )
})

interface Asking {
  readonly port: number
  readonly model: SoakModel
  readonly seed: number
  readonly milliseconds: number
}

/** Asks on several connections for so long, and answers how many answers were compared. */
async function ask({ port, model, seed: first, milliseconds }: Asking): Promise<number> {
  const end = performance.now() + milliseconds
  const counts = await Promise.all(
    Array.from({ length: connections }, (_connection, index) =>
      soakConnection({
        port,
        model,
        random: createRandom(first * 1000 + index),
        isOver: () => performance.now() > end,
      }),
    ),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

/** What the server holds once it has noticed that all its clients have gone. */
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
