import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import serveDist from '../../src/hosts/fastify.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'

test('the Fastify plugin looks on the disk for new files, then calls the routes', async () => {
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

test.each([false, true])(
  'the Fastify plugin sends the fields of earlier hooks once, for files on the disk: %s',
  async (fileSystemFallback) => {
    const app = Fastify()
    onTestFinished(() => app.close())
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('Access-Control-Allow-Origin', 'https://a.example')
      reply.header('Vary', 'Origin')
      reply.header('X-Gone', '1')
    })
    const site = await loadSite(await buildFixture({ 'index.html': compressibleText(2000) }))
    await app.register(serveDist, { site, fileSystemFallback })
    app.addHook('preHandler', async (_request, reply) => void reply.removeHeader('X-Gone'))
    app.get('/api', () => 'made')
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    const fieldsOf = async (path: string): Promise<unknown> => {
      const { headers } = await fetch(origin + path)
      return ['Access-Control-Allow-Origin', 'Vary', 'X-Gone'].map((name) => headers.get(name))
    }
    expect(await fieldsOf('/')).toEqual(['https://a.example', 'Origin, Accept-Encoding', '1'])
    expect(await fieldsOf('/api')).toEqual(['https://a.example', 'Origin', null])
  },
)

test('the Fastify plugin rejects a prefix because the build does not know it', async () => {
  const site = await loadSite(await buildFixture({ 'index.html': 'page' }, { base: '/sub/' }))
  const refused = Fastify()
  onTestFinished(() => refused.close())
  void refused.register(serveDist, { site, prefix: '/other' })
  await expect(refused.ready()).rejects.toThrow(/^prefix "\/other": the plugin serves the whole instance/)

  for (const options of [{}, { prefix: '/sub' }, { prefix: '/sub/' }]) {
    const app = Fastify()
    onTestFinished(() => app.close())
    await app.register(serveDist, { site, logLevel: 'warn', ...options })
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    const response = await fetch(`${origin}/sub/`)
    expect([response.status, await response.text()]).toEqual([200, 'page'])
  }
})
