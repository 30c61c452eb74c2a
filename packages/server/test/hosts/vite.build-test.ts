import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createLogger, preview as preview8 } from 'vite'
import { preview as preview6 } from 'vite6'
import { preview as preview7 } from 'vite7'
import { afterAll, describe, expect, test } from 'vitest'
import { describeBlackBox } from '../support/black-box.ts'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { rawRequest } from '../support/raw-request.ts'
import { isChosen } from '../../../vite/test/support/vites.ts'
import previewDist, { type PreviewDistPlugin } from '../../src/hosts/preview/vite.ts'

const page = { Accept: 'text/html' }
const files = { 'index.html': 'home', 'a.txt': 'a' }

const closers: (() => Promise<void>)[] = []
afterAll(async () => {
  await Promise.all(closers.splice(0).map((close) => close()))
})

/** A configuration that type-checks with every supported Vite version. */
function configOf(directory: string, plugins: PreviewDistPlugin[], warnings: string[] = []) {
  return {
    configFile: false as const,
    root: dirname(directory),
    plugins,
    build: { outDir: directory },
    customLogger: {
      ...createLogger('silent'),
      warn: (message: string) => void warnings.push(message),
    },
    // Requests have the host example.org. CORS would add Origin to each Vary.
    preview: { port: 0, host: '127.0.0.1', allowedHosts: true as const, cors: false },
  }
}

interface StartedPreview {
  readonly httpServer: { address(): unknown }
  close(): Promise<void>
}

const all: readonly {
  name: string
  preview: (config: ReturnType<typeof configOf>) => Promise<StartedPreview>
}[] = [
  { name: 'Vite 6', preview: (config) => preview6(config) },
  { name: 'Vite 7', preview: (config) => preview7(config) },
  { name: 'Vite 8', preview: (config) => preview8(config) },
]
const versions = all.filter(isChosen)

async function portOf(started: Promise<StartedPreview>): Promise<number> {
  const server = await started
  closers.push(() => server.close())
  const address = server.httpServer.address()
  if (typeof address === 'object' && address !== null && 'port' in address) return Number(address.port)
  throw new TypeError('listens on no port')
}

for (const { name, preview } of versions) {
  describeBlackBox({
    name: `${name} with previewDist`,
    role: 'standalone',
    start: ({ directory, memoryBudget }) =>
      portOf(preview(configOf(directory, [previewDist({ memoryBudget })]))),
  })
}

describe.each(versions)('previewDist in $name', ({ preview }) => {
  async function show(directory: string, plugins: PreviewDistPlugin[], warnings?: string[]) {
    const port = await portOf(preview(configOf(directory, plugins, warnings)))
    return (target: string, fields = {}) => rawRequest(port, { target, fields })
  }

  test.each([
    [undefined, 200, 'home'],
    ['404', 404, 'missing'],
    ['none', 404, 'Not Found'],
  ] as const)('answers an unknown page with fallback %s by %i', async (fallback, status, body) => {
    const missing = fallback === '404' ? { '404.html': 'missing' } : undefined
    const directory = await buildFixture({ ...files, ...missing }, { appType: 'spa' })
    const ask = await show(directory, [previewDist(fallback && { fallback })])
    const answer = await ask('/nobody', page)
    expect([answer.status, answer.body.toString()]).toEqual([status, expect.stringContaining(body)])
  })

  test('builds the module of the environment from its option', async () => {
    const path = 'serve-dist-env.js'
    const variables = { API_URL: { type: 'string', required: true } } as const
    const module = { environment: { path, prefix: '', variables } }
    const directory = await buildFixture({ ...files, [path]: 'export default {}' }, module)
    const warnings: string[] = []
    const ask = await show(directory, [previewDist({ environment: { API_URL: 'of the stage' } })], warnings)
    expect((await ask(`/${path}`)).body.toString()).toContain('of the stage')
    expect(warnings).toEqual([])
    await show(directory, [previewDist({ environment: {} })], warnings)
    expect(warnings).toEqual([
      expect.stringContaining('API_URL: the build requires this environment variable'),
    ])
  })

  test('looks on the disk only if its option is set', async () => {
    const directory = await buildFixture(files)
    const ask = await show(directory, [previewDist({ fileSystemFallback: true })])
    const askTable = await show(directory, [previewDist()])
    await writeFile(join(directory, 'later.txt'), 'later')
    expect((await ask('/later.txt')).body.toString()).toBe('later')
    expect((await askTable('/later.txt')).status).toBe(404)
  })

  test('answers once if several are installed, with the rules of the first', async () => {
    const plugins = ['first', 'second'].map((by) =>
      previewDist({ rules: { headers: { '**': { 'X-By': by } } } }),
    )
    const ask = await show(await buildFixture(files), plugins)
    expect((await ask('/a.txt')).field('X-By')).toBe('first')

    const warnings: string[] = []
    await show(await writeFixture(files), [previewDist(), previewDist()], warnings)
    expect(warnings).toEqual([expect.stringMatching(/cannot be served[^]*npx serve-dist compress/)])
  })

  test("logs unused options of a build through Vite's logger", async () => {
    const warnings: string[] = []
    const directory = await buildFixture({ ...files, _headers: '/gone.txt\n  X-Gone: 1\n' })
    await show(directory, [previewDist()], warnings)
    expect(warnings).toEqual([expect.stringMatching(/^\[serve-dist\] .*gone\.txt/)])
  })
})
