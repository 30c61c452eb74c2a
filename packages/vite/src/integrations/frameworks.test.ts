import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { finish } from '@serve-dist/precompress'
import { expect, onTestFinished, test } from 'vitest'
import { hashedNameFacts } from './frameworks.ts'

test('the promise of VitePress covers hashed names, not files of its public folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'serve-dist-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  // File names of VitePress 1.6.4.
  const hashed = [
    'assets/chunks/theme.Bz1Ve7qJ.js',
    'assets/guide_start.md.DfjwGfBY.lean.js',
    'assets/inter-italic-latin-ext.CN1xVJS-.woff2',
  ]
  for (const path of [...hashed, 'assets/logo.svg', 'assets/favicon.min.svg', 'hashmap.json']) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), path)
  }
  const { promises } = hashedNameFacts('vitepress', 'assets')
  const { manifest } = await finish(folder, { promises, root: folder, durable: false })
  const immutable = manifest.files.filter(({ cache }) => cache === 'immutable')
  expect(immutable.map(({ path }) => path)).toEqual(hashed)
})
