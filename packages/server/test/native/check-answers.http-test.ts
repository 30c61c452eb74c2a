import { randomInt } from 'node:crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { compareEngines } from '../support/native/compare-engines.ts'
import { vocabularyOf } from '../support/native/vocabulary-of.ts'
import { soakSites } from '../support/soak/soak-sites.ts'
import { startServer } from '../support/start-server.ts'

const seed = Number(process.env['SERVE_DIST_SEED'] ?? randomInt(2 ** 31))

test.each(Object.entries(soakSites))(
  `SERVE_DIST_ENGINE_CHECK finds nothing in what the native engine answers (SERVE_DIST_SEED=${seed}): %s`,
  async (_name, { files, options }) => {
    vi.stubEnv('SERVE_DIST_ENGINE_CHECK', '1')
    const told = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    onTestFinished(() => {
      vi.unstubAllEnvs()
      told.mockRestore()
    })
    const site = { largestBody: 3000 }
    const server = await startServer(await buildFixture(files, options), { engine: 'native', site })
    const both = { node: server.port, native: server.port }
    await compareEngines(both, { seed, requests: 1000, vocabulary: vocabularyOf(server.site) })
    await server.reload()
    await compareEngines(both, { seed: seed + 1, requests: 300, vocabulary: vocabularyOf(server.site) })
    await server.close()
    const lines = told.mock.calls
      .map(([text]) => String(text))
      .filter((text) => text.includes('engine check'))
    expect(lines).toEqual([
      expect.stringMatching(/^serve-dist: engine check: [1-9]\d{2,} answers compared, 0 differ\n$/),
    ])
  },
)
