import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

let folder: string

// As it is installed: no binary is compiled beside it.
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'serve-dist-engine-'))
  await cp(fileURLToPath(new URL('load-binding.ts', import.meta.url)), join(folder, 'src/load-binding.ts'))
})

afterEach(async () => await rm(folder, { recursive: true }))

describe('loadEngine', () => {
  test('says for which platform there is no binary', async () => {
    expect(await load()).toBe(`@serve-dist/engine has no binary for ${await platformOfTheLine()}`)
    expect(await platformOfTheLine()).toMatch(
      new RegExp(`^${process.platform}-${process.arch}${process.platform === 'linux' ? '-(gnu|musl)' : ''}$`),
    )
  })

  test('takes the binary of the package of this platform', async () => {
    const installed = join(folder, 'node_modules/@serve-dist', `engine-${await platformOfTheLine()}`)
    await mkdir(installed, { recursive: true })
    await writeFile(join(installed, 'index.js'), 'exports.Engine = class {}')
    expect(await load()).toEqual({ Engine: expect.any(Function) })
  })

  test('says in one line why a binary cannot be loaded', async () => {
    await mkdir(join(folder, 'dist'))
    await writeFile(join(folder, 'dist/engine.node'), 'no library')
    expect(await load()).toMatch(/^@serve-dist\/engine cannot be loaded: .*engine\.node.*$/)
  })
})

async function load(): Promise<unknown> {
  const module: { loadEngine: () => unknown } = await import(
    pathToFileURL(join(folder, 'src/load-binding.ts')).href
  )
  return module.loadEngine()
}

async function platformOfTheLine(): Promise<string> {
  return String(await load()).replace(/.* /, '')
}
