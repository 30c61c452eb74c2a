import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import serveDist from './fastify.ts'
import { loadSite } from './load-site.ts'
import { buildFixture } from './testing/build-fixture.ts'

test('the Fastify plugin looks on the disk for files that appeared, and else asks the routes', async () => {
  const directory = await buildFixture({ 'index.html': 'page' })
  const app = Fastify()
  onTestFinished(() => app.close())
  await app.register(serveDist, { site: await loadSite(directory), fileSystemFallback: true })
  app.get('/api', () => 'made')
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  await writeFile(join(directory, 'later.txt'), 'later')
  const bodyOf = async (path: string): Promise<string> => (await fetch(origin + path)).text()
  const bodies = await Promise.all(['/', '/later.txt', '/api'].map(bodyOf))
  expect(bodies).toEqual(['page', 'later', 'made'])
})
