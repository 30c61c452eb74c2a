import { describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { rawRequest } from '../support/raw-request.ts'
import { startServer } from '../support/start-server.ts'

describe('serve', () => {
  test('warns once of an option that does nothing, and serves', async () => {
    const directory = await buildFixture({ 'index.html': 'page' })
    const warnings: string[] = []
    const server = await startServer(directory, {
      socketMode: 0o600,
      site: { onWarning: (message) => warnings.push(message) },
    })
    expect(warnings).toEqual(['socketMode does nothing: there is no socket; add socket, or leave it out'])
    expect((await rawRequest(server.port)).status).toBe(200)
    await server.reload()
    expect(warnings).toHaveLength(1)
  })
})
