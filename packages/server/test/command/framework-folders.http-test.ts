import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { precompress } from '@serve-dist/precompress'
import { describe, expect, test } from 'vitest'
import { type FixtureFiles, writeFixture } from '../support/build-fixture.ts'
import { rawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'

/** The output of SvelteKit's adapter-node 2, which has only folders in `server`. */
const adapterNode: FixtureFiles = {
  'build/client/_app/immutable/entry/start.js': 'script',
  'build/client/robots.txt': 'robots',
  'build/server/chunks/0-abc.js': 'const key = "secret"',
  'build/server/chunks/0-abc.js.map': '{}',
  'build/handler.js': 'export const handler = (req, res) => res.end("made")',
  'build/index.js': 'code',
  'build/env.js': 'code',
  'build/shims.js': 'code',
}
const astro: FixtureFiles = {
  'dist/client/index.html': 'page',
  'dist/client/_astro/app.js': 'script',
  'dist/server/entry.mjs': 'export const handler = (req, res) => res.end("made")',
}
const nuxt: FixtureFiles = {
  '.output/nitro.json': '{}',
  '.output/public/_nuxt/app.js': 'script',
  '.output/server/index.mjs': 'export const middleware = (req, res) => res.end("made")',
  '.output/server/package.json': '{}',
}

async function run(
  cwd: string,
  ...args: readonly string[]
): Promise<{ code: number | null; stderr: string }> {
  return await spawnCommand(args, { cwd }).exited
}

async function start(
  cwd: string,
  args: readonly string[],
): Promise<{ stderr: string; status: number; body: string }> {
  const command = spawnCommand([...args, '--port', '0'], { cwd })
  const { port } = await command.listening
  const { status, body } = await rawRequest(port, { target: '/', fields: { Accept: 'text/html' } })
  command.child.kill()
  const { stderr } = await command.exited
  return { stderr, status, body: body.toString() }
}

/** Extracts the commands that a message suggests. */
function commandsIn(stderr: string): readonly string[] {
  return [...stderr.matchAll(/npx serve-dist (.*)/g)].map(([, command = '']) => command)
}

describe('the output of adapter-node', () => {
  test('is refused by the server and by compress, and the suggested commands serve it', async () => {
    const project = await writeFixture(adapterNode)
    const refused = await run(project, 'build', '--port', '0')
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('SD_FOLDER_WRONG')])
    const withModule = 'build/client --ssr build/handler.js'
    expect(commandsIn(refused.stderr)).toEqual(['build/client', withModule])

    const compressed = await run(project, 'compress', 'build')
    expect([compressed.code, compressed.stderr]).toEqual([1, expect.stringContaining('SD_FOLDER_WRONG')])
    expect(commandsIn(compressed.stderr)).toEqual(['compress build/client'])

    expect((await run(project, 'compress', 'build/client')).code).toBe(0)
    expect(await start(project, withModule.split(' '))).toEqual({ stderr: '', status: 200, body: 'made' })
    // The integration leaves a manifest in build/client.
    expect(commandsIn((await run(project, 'compress', 'build')).stderr)).toEqual(['compress build/client'])
    expect(commandsIn((await run(project, 'build', '--port', '0')).stderr)).toEqual([
      'build/client',
      withModule,
    ])
  })

  test("is served with an explicit manifest, and warns that the server's code is public", async () => {
    const project = await writeFixture(adapterNode)
    expect((await run(project, 'compress', 'build', '--include', '**')).code).toBe(0)
    const { stderr } = await start(project, ['build'])
    expect(stderr).toMatch(
      /warning: .*client\/.*all visitors can read.*handler\.js.*npx serve-dist build\/client/,
    )
    // compress refuses it again because the earlier --include is not remembered.
    expect((await run(project, 'compress', 'build')).stderr).toContain('SD_FOLDER_WRONG')
  })
})

describe('the output of Astro with a server', () => {
  test('is not compressed as one build, even if an earlier manifest describes it as one', async () => {
    const project = await writeFixture(astro)
    expect(commandsIn((await run(project, 'compress', 'dist')).stderr)).toEqual(['compress dist/client'])
    await precompress(join(project, 'dist'), { exclude: ['server/**'] })
    expect(commandsIn((await run(project, 'compress', 'dist')).stderr)).toEqual(['compress dist/client'])
    const { stderr, status } = await start(project, [])
    expect(status).toBe(404)
    const [, compress = '', serve = ''] =
      /in its folder client\/, so \/ has no page\. Run: npx serve-dist (.*), then: npx serve-dist (.*)\n$/.exec(
        stderr,
      ) ?? []
    expect([compress, serve]).toEqual(['compress dist/client', 'dist/client --ssr dist/server/entry.mjs'])
    expect((await run(project, ...compress.split(' '))).code).toBe(0)
    expect(await start(project, serve.split(' '))).toEqual({ stderr: '', status: 200, body: 'page' })
    // The folder has a manifest now.
    expect((await start(project, [])).stderr).toMatch(
      /so \/ has no page\. Run: npx serve-dist dist\/client --ssr \S+\n$/,
    )
  })

  test('gets no warning if the site has such a folder, or rules that answer', async () => {
    const site = await writeFixture({ ...astro, 'dist/index.html': 'home' })
    await precompress(join(site, 'dist'), { exclude: ['server/**'] })
    expect(await start(site, [])).toEqual({ stderr: '', status: 200, body: 'home' })
    const ruled = await writeFixture({ ...astro, 'dist/_redirects': '/ /client/ 302\n' })
    await precompress(join(ruled, 'dist'), { exclude: ['server/**'] })
    expect(await start(ruled, [])).toMatchObject({ stderr: '', status: 302 })
  })

  test('does not expose the files of its server folder', async () => {
    const project = await writeFixture(astro)
    const { stderr } = await run(project, 'dist/server', '--port', '0')
    expect(commandsIn(stderr)).toEqual(['dist/client', 'dist/client --ssr dist/server/entry.mjs'])
  })
})

describe('a build whose pages a server renders', () => {
  test('is suggested with its module if no folder is given, or if it starts without the module', async () => {
    const project = await writeFixture(nuxt)
    await precompress(join(project, '.output/public'))
    const withModule = '.output/public --ssr .output/server/index.mjs'
    const { stderr } = await run(project)
    expect(stderr).toContain('SD_BUILD_NOT_FOUND')
    expect(commandsIn(stderr)).toEqual(['.output/public', withModule])
    const plain = await start(project, ['.output/public'])
    expect(commandsIn(plain.stderr)).toEqual([withModule])
    expect(await start(project, withModule.split(' '))).toEqual({ stderr: '', status: 200, body: 'made' })
  })

  test("is suggested for its server's folder, unless the build is missing", async () => {
    const project = await writeFixture(nuxt)
    const { stderr } = await run(project, '.output/server', '--port', '0')
    expect(stderr).toContain('SD_FOLDER_WRONG')
    expect(commandsIn(stderr)).toEqual(['.output/public', '.output/public --ssr .output/server/index.mjs'])
    await rm(join(project, '.output/public'), { recursive: true })
    const alone = await run(project, '.output/server', '--port', '0')
    expect(alone.stderr).toContain('SD_FOLDER_WRONG')
    expect(commandsIn(alone.stderr)).toEqual([])
  })
})

test.each([
  ['docs/.vitepress/dist', 'docs/.vitepress/dist'],
  ['.vitepress/dist', '.vitepress/dist'],
  ['build/client', 'build/client'],
  ['build', 'build'],
  ['.output/public', '.output/public'],
])(
  'a build without a manifest in %s is suggested if the default folder is missing',
  async (folder, named) => {
    const project = await writeFixture({ [`${folder}/index.html`]: 'page' })
    const { code, stderr } = await run(project)
    expect([code, stderr]).toEqual([1, expect.stringContaining('SD_BUILD_NOT_FOUND')])
    expect(commandsIn(stderr)).toEqual([named])
    expect((await start(project, [named])).status).toBe(200)
  },
)

test('a build whose only page is 404.html starts with a warning that explains the options', async () => {
  const project = await writeFixture({ 'build/404.html': 'shell', 'build/_app/start.js': 'script' })
  const build = join(project, 'build')
  await precompress(build)
  const { stderr, status } = await start(project, ['build'])
  expect(status).toBe(404)
  expect(stderr).toMatch(/^serve-dist: warning: the only page is 404\.html, .*200\.html.*--ssr.*\n$/)

  await writeFile(join(build, '_redirects'), '/* /404.html 200\n')
  await precompress(build)
  expect(await start(project, ['build'])).toEqual({ stderr: '', status: 200, body: 'shell' })

  await mkdir(join(project, 'other'))
  await cp(join(build, '404.html'), join(project, 'other/200.html'))
  await precompress(join(project, 'other'))
  expect((await start(project, ['other', '--fallback', 'spa'])).stderr).toBe('')
})
