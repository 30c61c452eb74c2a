import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

test.each([
  ['docs/http.md', 150],
  ['docs/migrate/nginx.md', 40],
])('%s names test files that exist', (path, least) => {
  const document = readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8')
  const server = fileURLToPath(new URL('../..', import.meta.url))
  const paths = ['src', 'test'].flatMap((folder) =>
    readdirSync(`${server}/${folder}`, { encoding: 'utf8', recursive: true }),
  )
  const known = new Set(paths.map((name) => basename(name)))
  const named = Array.from(document.matchAll(/`([\w-]+\.[\w-]*test\.ts)`/g), ([, name = '']) => name)
  expect(named.length).toBeGreaterThan(least)
  expect(named.filter((name) => !known.has(name))).toEqual([])
})
