import { OperatorError } from '@serve-dist/manifest'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadApplication } from './load-application.ts'
import { writeFixture } from '../../test/support/build-fixture.ts'

async function problemOf(source: string): Promise<unknown> {
  const directory = await writeFixture({ 'entry.mjs': source })
  return loadApplication(join(directory, 'entry.mjs')).catch((error: unknown) => error)
}

describe('loadApplication', () => {
  test('reports a missing module and the command that builds it', async () => {
    const loading = loadApplication('no/such/entry.js')
    await expect(loading).rejects.toThrow(OperatorError)
    await expect(loading).rejects.toThrow(/^no\/such\/entry\.js: no such module\. Build it first/)
  })

  test.each([
    ['nothing', ''],
    ['something else', 'export const render = () => ""; export default { render }'],
  ])('names the possible exports if a module exports %s', async (_what, source) => {
    const problem = await problemOf(source)
    expect(problem).toBeInstanceOf(OperatorError)
    expect(String(problem)).toMatch(
      /entry\.mjs: the module exports no handler\. Export a function from Request to Response as fetch, /,
    )
  })

  test.each([
    [
      "Astro's standalone server",
      'export const handler = (req, res) => {}; export const options = { mode: "standalone" }; export const startServer = () => {}',
      /starts its own server \(@astrojs\/node\)\. Set mode: 'middleware'/,
    ],
    [
      "adapter-node's server",
      'import { createServer } from "node:http"; export const path = false, host = "0.0.0.0", port = "3000", server = createServer()',
      /starts its own server \(SvelteKit, adapter-node\)\. Name handler\.js of the same folder/,
    ],
    [
      "Nitro's server without its nitro.json",
      'const nodeServer = {}; export { nodeServer as default }',
      /exports nothing, and may have started its own server\. With Nitro, build with NITRO_PRESET=node /,
    ],
    [
      'SvelteKit without adapter-node',
      'export class Server { respond() {} }',
      /SvelteKit's output without an adapter\. Build with @sveltejs\/adapter-node, and name build\/handler\.js/,
    ],
  ])('names the setting for %s', async (_what, source, expected) => {
    const problem = await problemOf(source)
    expect(problem).toBeInstanceOf(OperatorError)
    expect(String(problem)).toMatch(expected)
  })

  test.each([
    ['2.13.6', 'node-server', 'with NITRO_PRESET=node', undefined],
    ['3.0.0', 'node-cluster', 'with NITRO_PRESET=node-middleware', { name: 'nitro' }],
    ['2.13.5', 'node-server', 'with: npx nuxt build --preset=node', { name: 'nuxt', version: '4.5.2' }],
  ])(
    'names the preset for Nitro %s, and does not start its server',
    async (version, preset, cure, framework) => {
      const directory = await writeFixture({
        'nitro.json': JSON.stringify({ preset, framework, versions: { nitro: version } }, null, 2),
        'server/index.mjs': 'throw new Error("was imported")',
      })
      const problem = loadApplication(join(directory, 'server/index.mjs'))
      await expect(problem).rejects.toThrow(
        new RegExp(`starts its own server \\(Nitro's preset ${preset}\\)\\. Build ${cure}$`),
      )
    },
  )

  test.each([
    ['throws', 'throw new Error("no database")', /cannot load this module: Error: no database/],
    ['is malformed', 'export default (', /cannot load this module: \w*Error: /],
    ['imports a missing package', 'import "no-such-package"', /cannot load this module: .*no-such-package/],
  ])('reports why a module %s', async (_what, source, expected) => {
    const problem = await problemOf(source)
    expect(problem).toBeInstanceOf(OperatorError)
    expect(String(problem)).toMatch(expected)
  })
})
