import { createHash } from 'node:crypto'
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Manifest, manifestPath, type PagePolicy } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { addFiles, makeFolder } from '../../test/support/make-folder.ts'
import { describeDirectory } from './describe-directory.ts'
import { precompress } from './precompress.ts'

function policiesOf({ files }: Manifest): Record<string, PagePolicy | undefined> {
  return Object.fromEntries(files.map(({ path, policy }) => [path, policy]))
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}

const pages = {
  'index.html':
    '<script>a</script><script>a</script><style>b</style><p style=c onclick=d><script>e\r\n</script>',
  'plain.html': '<script type="module" crossorigin src="/a.js"></script><p>',
  'a.js': '<script>no page</script>',
}
const ofIndex = {
  scripts: ['a', 'e\n'].map(hashOf).toSorted(),
  styles: [hashOf('b')],
  styleAttributes: [hashOf('c')],
  scriptAttributes: [hashOf('d')],
}

describe('describePages', () => {
  test('lists the policy hashes of each page without duplicates', async () => {
    const folder = await makeFolder(pages)
    const { manifest } = await precompress(folder)
    expect(policiesOf(manifest)).toEqual({
      'a.js': undefined,
      'index.html': ofIndex,
      'plain.html': undefined,
    })
    expect(manifest.policy).toEqual({})
  })

  test('describes a page with 200,000 sibling elements', async () => {
    const folder = await makeFolder({ 'index.html': `<style>b</style>${'<br>'.repeat(200_000)}` })
    const { manifest } = await precompress(folder)
    expect(policiesOf(manifest)).toEqual({ 'index.html': { styles: [hashOf('b')] } })
  })

  test('gives the same hashes for a folder without a manifest, if the option is on', async () => {
    const folder = await makeFolder(pages)
    const { manifest } = await precompress(folder)
    await rm(join(folder, manifestPath))
    const described = await describeDirectory(folder, { policies: true })
    expect(described.buildId).toBe(manifest.buildId)
    expect((await describeDirectory(folder)).files.some(({ policy }) => policy)).toBe(false)
  })

  test('reads each page again and ignores the hashes of an earlier manifest', async () => {
    const folder = await makeFolder(pages)
    const first = await precompress(folder)
    // Simulates a manifest of an earlier release that computed hashes differently.
    const wrong = (await readFile(join(folder, manifestPath), 'utf8')).replaceAll(
      /sha256-[^"]{43}/g,
      `sha256-${'A'.repeat(43)}`,
    )
    await writeFile(join(folder, manifestPath), wrong)
    await addFiles(folder, { 'copy.html': pages['index.html'] })
    await appendFile(join(folder, 'plain.html'), '<style></style>')
    const { manifest } = await precompress(folder)
    expect(policiesOf(manifest)).toMatchObject({
      'copy.html': ofIndex,
      'index.html': ofIndex,
      'plain.html': { styles: [hashOf('')] },
    })
    expect(manifest.buildId).not.toBe(first.manifest.buildId)
  })
})
