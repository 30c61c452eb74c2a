import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { change } from './emit-tree.ts'
import { verifyOutput } from './verify-output.ts'

const script = Buffer.from('export const answer = 42\n'.repeat(100))

/** A tree of one script, and what a plugin made of it. */
async function makeOutput(original: Buffer = script) {
  const folder = await mkdtemp(join(tmpdir(), 'serve-dist-'))
  onTestFinished(async () => await rm(folder, { recursive: true }))
  const tree = join(folder, 'tree')
  const outDir = join(folder, 'dist')
  await mkdir(tree)
  await mkdir(outDir)
  await writeFile(join(tree, 'a.js'), script)
  await writeFile(join(outDir, 'a.js'), original)
  await writeFile(join(outDir, 'a.js.gz'), gzipSync(original))
  await writeFile(join(outDir, 'a.js.br'), brotliCompressSync(original))
  return { tree, outDir, extensions: ['.gz', '.br'], changed: undefined }
}

describe('verifyOutput', () => {
  test('answers the bytes of the variants', async () => {
    const output = await makeOutput()
    expect(await verifyOutput(output)).toEqual({
      '.gz': gzipSync(script).length,
      '.br': brotliCompressSync(script).length,
    })
  })

  test('knows the chunk that was changed', async () => {
    const output = await makeOutput(change(script))
    await expect(verifyOutput(output)).rejects.toThrow('a.js is not what was built')
    expect(await verifyOutput({ ...output, changed: 'a.js' })).toHaveProperty('.gz')
  })

  test.each([
    [
      'a variant that is missing',
      async (outDir: string) => await rm(join(outDir, 'a.js.br')),
      'a.js.br is missing',
    ],
    [
      'a variant of something else',
      async (outDir: string) => await writeFile(join(outDir, 'a.js.gz'), gzipSync('other')),
      'a.js.gz is not its original',
    ],
    [
      'a variant that is cut short',
      async (outDir: string) => await writeFile(join(outDir, 'a.js.gz'), gzipSync(script).subarray(0, 30)),
      'a.js.gz cannot be decoded',
    ],
    [
      'an original that was touched',
      async (outDir: string) => await appendFile(join(outDir, 'a.js'), '//'),
      'a.js is not what was built',
    ],
  ])('names %s', async (_name, spoil, problem) => {
    const output = await makeOutput()
    await spoil(output.outDir)
    await expect(verifyOutput(output)).rejects.toThrow(problem)
  })
})
