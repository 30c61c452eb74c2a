import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readConfig } from './read-config.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'serve-dist-config-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true })
})

describe('readConfig', () => {
  test('returns no rules if there is no file', async () => {
    expect(await readConfig(folder)).toEqual({})
  })

  test.each([
    ['serve-dist.config.json', '{ "prefer": "smallest" }'],
    ['serve-dist.config.json', '{ "$schema": "./schema.json", "prefer": "smallest" }'],
    ['serve-dist.config.json', '\uFEFF{ "prefer": "smallest" }'],
    ['serve-dist.config.mjs', 'export default { prefer: "smallest" }'],
  ])('reads %s', async (name, text) => {
    await writeFile(join(folder, name), text)
    expect(await readConfig(folder)).toEqual({ prefer: 'smallest' })
  })

  test('reads the named file', async () => {
    await writeFile(join(folder, 'other.json'), '{ "securityHeaders": true }')
    expect(await readConfig(folder, 'other.json')).toEqual({ securityHeaders: true })
  })

  test('reports all wrong values and keys, with the nearest valid key', async () => {
    await writeFile(join(folder, 'serve-dist.config.json'), '{ "header": {}, "prefer": "br" }')
    const file = join(folder, 'serve-dist.config.json')
    await expect(readConfig(folder)).rejects.toThrow(
      `${file}: prefer: expected one of "order", "smallest", found "br"\n${file}: header: unknown rule. Did you mean "headers"?`,
    )
  })

  test.each([
    ['serve-dist.config.json', '{\n nonsense', 'json: line 2: Expected property name or'],
    ['serve-dist.config.json', '{ "cors": [\n}', `'}', "{ "cors": [ }" is not valid JSON. Correct the file.`],
    ['serve-dist.config.mjs', 'export const config = {}', 'it has no default export'],
    ['serve-dist.config.mjs', 'throw new Error("boom")', 'boom'],
    [
      'serve-dist.config.mjs',
      'export default () => ({})',
      'config.mjs: expected an object, found a function',
    ],
    ['serve-dist.config.json', '["a"]', 'config.json: expected an object, found ["a"]'],
    [
      'serve-dist.config.json',
      '{ "redirects": [{ "from": "/a", "to": "/b", "stauts": 301 }] }',
      'redirects[0].stauts: unknown key. Did you mean "status"?',
    ],
  ])('describes the problem in %s with the content %s', async (name, text, problem) => {
    await writeFile(join(folder, name), text)
    await expect(readConfig(folder)).rejects.toThrow(problem)
  })

  test.each(['serve-dist.config.ts', 'serve-dist.config.cjs'])(
    'rejects the unsupported name %s unless there is a valid file',
    async (name) => {
      await writeFile(join(folder, name), 'module.exports = { prefer: "smallest" }')
      await expect(readConfig(folder)).rejects.toThrow(
        `${join(folder, name)}: the server does not read a configuration with this name. Write "export default { … }" in serve-dist.config.js`,
      )
      await writeFile(join(folder, 'serve-dist.config.json'), '{}')
      expect(await readConfig(folder)).toEqual({})
    },
  )

  test('rejects two files, and a named file that does not exist', async () => {
    await writeFile(join(folder, 'serve-dist.config.json'), '{}')
    await writeFile(join(folder, 'serve-dist.config.mjs'), 'export default {}')
    await expect(readConfig(folder)).rejects.toThrow('only one of them is allowed')
    await expect(readConfig(folder, 'none.json')).rejects.toThrow('the file does not exist')
  })
})
