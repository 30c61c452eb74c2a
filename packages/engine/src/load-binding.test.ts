import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { platforms } from './load-binding.ts'

let folder: string

// A copy outside the repository, without a compiled binary next to it.
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'serve-dist-engine-'))
  await cp(fileURLToPath(new URL('load-binding.ts', import.meta.url)), join(folder, 'src/load-binding.ts'))
})

afterEach(async () => await rm(folder, { recursive: true }))

describe('loadEngine', () => {
  test('returns the package that has the binary for this platform', async () => {
    const platform = await platformOfTheLine()
    expect(platform).toMatch(
      new RegExp(`^${process.platform}-${process.arch}${process.platform === 'linux' ? '-(gnu|musl)' : ''}$`),
    )
    expect(await load()).toBe(
      platforms.includes(platform)
        ? `the binary for ${platform} is not installed: npm install @serve-dist/engine-${platform}`
        : `@serve-dist/engine has no binary for ${platform}`,
    )
  })

  test('names a platform without a binary', async () => {
    vi.spyOn(process, 'arch', 'get').mockReturnValue('riscv64')
    expect(await load()).toMatch(/^@serve-dist\/engine has no binary for \w+-riscv64(-\w+)?$/)
    vi.restoreAllMocks()
  })

  test('loads the binary from the package for this platform', async () => {
    const installed = join(folder, 'node_modules/@serve-dist', `engine-${await platformOfTheLine()}`)
    await mkdir(installed, { recursive: true })
    await writeFile(join(installed, 'index.js'), 'exports.Engine = class {}')
    expect(await load()).toEqual({ Engine: expect.any(Function) })
  })

  test('returns the reason in one line if a binary cannot be loaded', async () => {
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
  return String(await load()).replace(/.*(?: |engine-)/, '')
}
