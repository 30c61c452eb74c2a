import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { precompress } from '@serve-dist/precompress'
import { describe, expect, test } from 'vitest'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { requestTwice } from '../support/request-twice.ts'
import { startServer } from '../support/start-server.ts'

const files = {
  'index.html': 'page',
  'assets/app.js': compressibleText(3000),
  'assets/app.js.map': compressibleText(3000, 'map'),
  'assets/style.css.map': '{}',
  'level.map': 'a map of a game',
}
const maps = ['/assets/app.js.map', '/assets/style.css.map']

describe('source maps', () => {
  test('are served like any file by default', async () => {
    const { port } = await startServer(await buildFixture(files))
    for (const target of maps) expect((await requestTwice(port, { target })).status).toBe(200)
  })

  test('look as if they did not exist if they are denied, for every request', async () => {
    const directory = await buildFixture(files, { assetsDirectory: 'assets', appType: 'spa' })
    const { port, site } = await startServer(directory, {
      site: { rules: { sourceMaps: 'deny' } },
      handler: { fileSystemFallback: true },
    })
    const encoded = maps.flatMap((target) => ['.br', '.gz', '.zst'].map((extension) => target + extension))
    for (const target of [...maps, ...encoded, '/assets/app.js%2Emap']) {
      for (const fields of [{}, { 'Sec-Fetch-Mode': 'navigate' }]) {
        const response = await requestTwice(port, { target, fields })
        expect([target, response.status, response.field('Cache-Control')]).toEqual([target, 404, 'no-store'])
      }
    }
    expect((await requestTwice(port, { target: '/level.map' })).status).toBe(200)
    expect(site.summary.files).toBe(3)
  })

  test('with variants from another tool are denied, too', async () => {
    const directory = await writeFixture(files)
    await writeFile(join(directory, 'assets/app.js.map.br'), brotliCompressSync(files['assets/app.js.map']))
    await writeFile(join(directory, 'assets/app.js.map.gz'), 'of an earlier build')
    const { manifest } = await precompress(directory)
    const { port } = await startServer(directory, { site: { rules: { sourceMaps: 'deny' } } })
    for (const target of ['/assets/app.js.map.br', '/assets/app.js.map.gz']) {
      expect(manifest.files.map(({ path }) => `/${path}`)).toContain(target)
      expect((await requestTwice(port, { target })).status).toBe(404)
    }
  })

  test('that appear after the start are denied, too', async () => {
    const directory = await buildFixture(files)
    const { port } = await startServer(directory, {
      site: { rules: { sourceMaps: 'deny' } },
      handler: { fileSystemFallback: true },
    })
    await writeFile(join(directory, 'late.js'), 'late')
    await writeFile(join(directory, 'late.js.map'), '{}')
    await writeFile(join(directory, 'late.js.map.gz'), '{}')
    const statusOf = async (target: string) => (await requestTwice(port, { target })).status
    expect(await statusOf('/late.js')).toBe(200)
    expect(await statusOf('/late.js.map')).toBe(404)
    expect(await statusOf('/late.js.map.gz')).toBe(404)
  })

  test('that are denied may be deleted after the build', async () => {
    const directory = await buildFixture(files)
    await rm(join(directory, 'assets/app.js.map'))
    await expect(startServer(directory)).rejects.toThrow('assets/app.js.map')
    const { port } = await startServer(directory, { site: { rules: { sourceMaps: 'deny' } } })
    expect((await requestTwice(port, { target: '/assets/app.js' })).status).toBe(200)
  })
})
