import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createFetchHandler } from './fetch.ts'
import { loadSite } from '../load/load-site.ts'
import { writeFixture } from '../../test/support/build-fixture.ts'
import { fakeSite } from '../../test/support/fake-site.ts'

const site = fakeSite({
  'index.html': { body: 'page', mediaType: 'text/html; charset=utf-8' },
  'a.txt': 'a',
})

describe('createFetchHandler', () => {
  test('answers synchronously from memory', async () => {
    const answer = createFetchHandler(site)(new Request('http://example.org/a.txt'))
    expect(answer).toBeInstanceOf(Response)
    expect(answer instanceof Response && (await answer.text())).toBe('a')
  })

  test('removes the fragment of a URL', async () => {
    const answer = await createFetchHandler(site)(new Request('http://example.org/a.txt#b?c'))
    expect(await answer?.text()).toBe('a')
  })

  test('returns undefined for unknown paths and methods that are not allowed', () => {
    const handle = createFetchHandler(site)
    expect(handle(new Request('http://example.org/b.txt'))).toBeUndefined()
    expect(handle(new Request('http://example.org/a.txt', { method: 'POST' }))).toBeUndefined()
  })

  test('answers from the current build of its holder', async () => {
    const holder = { current: site }
    const handle = createFetchHandler(holder)
    holder.current = fakeSite({ 'b.txt': 'b' })
    expect(handle(new Request('http://example.org/a.txt'))).toBeUndefined()
    const answer = await handle(new Request('http://example.org/b.txt'))
    expect(await answer?.text()).toBe('b')
  })

  test('answers navigations with the page of the application only if configured', async () => {
    const request = new Request('http://example.org/users', { headers: { Accept: 'text/html' } })
    expect(createFetchHandler(site)(request)).toBeUndefined()
    const answer = await createFetchHandler(site, { fallback: 'spa' })(request)
    expect([answer?.status, await answer?.text()]).toEqual([200, 'page'])
  })

  // Only Linux lists the open files of a process.
  test.skipIf(process.platform !== 'linux')('closes the file of a cancelled body', async () => {
    const directory = await writeFixture({ 'large.bin': 'x'.repeat(1_000_000) })
    const handle = createFetchHandler(await loadSite(directory, { memoryBudget: 0 }))
    const answer = await handle(new Request('http://example.org/large.bin'))
    const reader = answer?.body?.getReader()
    await reader?.read()
    expect(await openFiles()).toContain(join(directory, 'large.bin'))
    await reader?.cancel()
    expect(await openFiles()).not.toContain(join(directory, 'large.bin'))
  })

  test('imports no module of Node before it reads a file', async () => {
    const loaded = await importsOf(new URL('fetch.ts', import.meta.url))
    await importsOf(new URL('../../../manifest/src/index.ts', import.meta.url), loaded)
    const packages = [...loaded].filter((name) => !name.startsWith('file:'))
    expect(packages.toSorted()).toEqual(['@serve-dist/manifest', 'mrmime', 'valibot'])
    // Proves that the test finds imports.
    expect(loaded.size).toBeGreaterThan(10)
    expect(loaded).toContain(new URL('../site/decide.ts', import.meta.url).href)
  })
})

async function openFiles(): Promise<(string | undefined)[]> {
  const descriptors = await readdir('/proc/self/fd')
  // Some descriptors are closed before `readlink` reads them.
  return Promise.all(descriptors.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => undefined)))
}

const foundation = '@serve-dist/foundation/'

/** Returns the transitive imports of a module: files as URLs, all others by name. */
async function importsOf(file: URL, found: Set<string> = new Set([file.href])): Promise<Set<string>> {
  const source = await readFile(file, 'utf8')
  for (const [, isType, name = ''] of source.matchAll(
    /^(?:import|export) (type )?[^'";]*?from '([^']+)'/gm,
  )) {
    const isHelper = name.startsWith(foundation)
    const helper = `../../../foundation/src/${name.slice(foundation.length)}.ts`
    const url = isHelper
      ? new URL(helper, import.meta.url)
      : name.startsWith('.')
        ? new URL(name, file)
        : undefined
    const key = url?.href ?? name
    if (isType !== undefined || found.has(key)) continue
    found.add(key)
    if (url !== undefined) await importsOf(url, found)
  }
  return found
}
