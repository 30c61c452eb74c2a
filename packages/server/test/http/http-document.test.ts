import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

test('docs/http.md names test files that exist', () => {
  const document = readFileSync(new URL('../../../../docs/http.md', import.meta.url), 'utf8')
  const server = fileURLToPath(new URL('../..', import.meta.url))
  const paths = ['src', 'test'].flatMap((folder) =>
    readdirSync(`${server}/${folder}`, { encoding: 'utf8', recursive: true }),
  )
  const known = new Set(paths.map((path) => basename(path)))
  const named = Array.from(document.matchAll(/`([\w-]+\.[\w-]*test\.ts)`/g), ([, name = '']) => name)
  expect(named.length).toBeGreaterThan(150)
  expect(named.filter((name) => !known.has(name))).toEqual([])
})
