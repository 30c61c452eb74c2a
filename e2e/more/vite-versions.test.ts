import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { contentCodings } from '@serve-dist/manifest'
import { describe, expect, inject, test } from 'vitest'
import { readManifest } from '../src/read-manifest.ts'
import { sendRequest } from '../src/send-request.ts'
import { runToEnd, startCommand } from '../src/start-command.ts'
import { temporaryFolder } from '../src/temporary-folder.ts'
import { urlOfFile } from '../src/url-of-file.ts'

const require = createRequire(import.meta.url)
const spa = inject('packedSpa')

describe('@serve-dist/vite', () => {
  test.each([
    ['vite6', 6],
    ['vite7', 7],
    ['vite', 8],
  ])('builds examples/spa with %s', async (alias, major) => {
    const packageFile = require.resolve(`${alias}/package.json`)
    expect(JSON.parse(await readFile(packageFile, 'utf8'))).toHaveProperty(
      'version',
      expect.stringMatching(new RegExp(`^${major}\\.`)),
    )
    const dist = path.join(await temporaryFolder(), 'dist')
    const bin = path.join(path.dirname(packageFile), 'bin/vite.js')
    const end = await runToEnd([process.execPath, bin, 'build'], {
      args: ['--outDir', dist, '--emptyOutDir'],
      cwd: spa.project,
    })
    expect(end).toMatchObject({ exitCode: 0 })

    const { files } = await readManifest(dist)
    const scripts = files.filter(({ path: name }) => /^assets\/.+\.js$/.test(name))
    expect(scripts.length).toBeGreaterThan(6)
    expect(scripts.filter(({ cache }) => cache !== 'immutable')).toEqual([])
    expect(files.find(({ path: name }) => name === 'index.html')).toMatchObject({ cache: 'revalidate' })
    const largest = scripts.toSorted((a, b) => b.size - a.size)[0]
    expect(largest?.variants.map(({ coding }) => coding)).toEqual(contentCodings.map(({ name }) => name))

    const server = await startCommand(spa.command, { args: [dist, '--port', '0'], cwd: spa.project })
    const { status, headers } = await sendRequest(urlOfFile(server.url, largest?.path ?? ''), {
      headers: { 'accept-encoding': 'zstd, br, gzip' },
    })
    await server.stop()
    expect([status, headers['content-encoding']]).toEqual([200, 'zstd'])
  })
})
