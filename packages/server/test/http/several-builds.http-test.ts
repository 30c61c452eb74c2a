import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { precompress } from '@serve-dist/precompress'
import { describe, expect, test, vi } from 'vitest'
import { serve } from '../../src/serve/serve.ts'
import { buildFixture, type FixtureFiles } from '../support/build-fixture.ts'
import { waitForEngine } from '../support/native/wait-for-engine.ts'
import { requestTwice } from '../support/request-twice.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'

const isHashed = (path: string): boolean => path.includes('-1a2b')

async function buildAt(base: string, files: FixtureFiles): Promise<string> {
  return await buildFixture(files, { base, isHashed, appType: 'spa', assetsDirectory: 'assets' })
}

async function buildApp(): Promise<string> {
  return await buildAt('/', {
    'index.html': 'app',
    'assets/app-1a2b.js': 'script of app',
    _redirects: '/old /new 301\n',
  })
}

async function buildAdmin(more: FixtureFiles = {}): Promise<string> {
  return await buildAt('/admin/', {
    'index.html': 'admin',
    'assets/admin-1a2b.js': 'script of admin',
    _headers: '/admin/*\n  X-Frame-Options: DENY\n',
    _redirects: '/admin/old /admin/new 302\n/old /wrong 302\n',
    ...more,
  })
}

async function startBoth(directories: readonly string[]): Promise<StartedServer> {
  return await startServer(undefined, { directory: directories } as object)
}

const navigation = { Accept: 'text/html' }

async function bodyOf(server: { readonly port: number }, target: string): Promise<string> {
  return (await requestTwice(server.port, { target, fields: navigation })).body.toString()
}

describe('several builds', () => {
  test.each([
    ['/', 'app'],
    ['/users/7', 'app'],
    ['/administration', 'app'],
    ['/admin/', 'admin'],
    ['/admin/users/7', 'admin'],
    ['/%61dmin/users/7', 'admin'],
    ['/assets/app-1a2b.js', 'script of app'],
    ['/admin/assets/admin-1a2b.js', 'script of admin'],
    ['/admin/assets/app-1a2b.js', '404 Not Found\n'],
    ['/assets/admin-1a2b.js', '404 Not Found\n'],
  ])('have their own files and fallbacks: %s gets %j', async (target, body) => {
    const directories = [await buildApp(), await buildAdmin()]
    for (const order of [directories, directories.toReversed()]) {
      const server = await startBoth(order)
      for (let round = 0; round < 3; round += 1) expect(await bodyOf(server, target)).toBe(body)
    }
  })

  test('have their own rules', async () => {
    const server = await startBoth([await buildApp(), await buildAdmin()])
    const locationOf = async (target: string) => {
      const answer = await requestTwice(server.port, { target })
      return [answer.status, answer.field('Location')]
    }
    expect(await locationOf('/old')).toEqual([301, '/new'])
    expect(await locationOf('/admin/old')).toEqual([302, '/admin/new'])
    expect(await locationOf('/admin')).toEqual([308, '/admin/'])
    expect((await requestTwice(server.port, { target: '/admin/' })).field('X-Frame-Options')).toBe('DENY')
    expect((await requestTwice(server.port, { target: '/' })).field('X-Frame-Options')).toBeUndefined()
  })

  test('name their folder in warnings', async () => {
    const directories = [await buildApp(), await buildAdmin()]
    const warnings: string[] = []
    const redirects = [{ from: '/*', to: '/gone.html', status: 503 }]
    await startServer(undefined, {
      directory: directories,
      site: { rules: { redirects }, onWarning: (text: string) => warnings.push(text) },
    } as object)
    expect(warnings).toEqual(
      directories.map((directory) =>
        expect.stringContaining(`${directory}: the rule of /* has status 503, but no page`),
      ),
    )
  })

  test('protect only the build whose rules ask for credentials', async () => {
    const admin = await buildFixture(
      { 'index.html': 'admin' },
      { base: '/admin/', appType: 'spa', serving: { basicAuth: { env: 'SITE_PASSWORD' } } },
    )
    const server = await startServer(undefined, {
      directory: [await buildApp(), admin],
      site: { environment: { SITE_PASSWORD: 'anna:a' } },
    } as object)
    const statusOf = async (target: string) => (await requestTwice(server.port, { target })).status
    for (let round = 0; round < 3; round += 1) {
      expect(await Promise.all(['/', '/old', '/assets/app-1a2b.js'].map(statusOf))).toEqual([200, 301, 200])
      const paths = ['/admin', '/admin/', '/admin/x', '/%61dmin/', '//admin/', '/a/../admin/']
      expect(await Promise.all(paths.map(statusOf))).toEqual(paths.map(() => 401))
    }
  })

  test('ask for the credentials of their own rules', async () => {
    const directories: string[] = []
    for (const [base, env] of [['/', 'APP'] as const, ['/admin/', 'ADMIN'] as const])
      directories.push(await buildFixture({ 'index.html': env }, { base, serving: { basicAuth: { env } } }))
    const server = await startServer(undefined, {
      directory: directories,
      site: { environment: { APP: 'anna:a', ADMIN: 'bob:b' } },
    } as object)
    const [anna, bob] = ['anna:a', 'bob:b'].map((text) => ({
      Authorization: `Basic ${Buffer.from(text).toString('base64')}`,
    }))
    await waitForEngine(server.port, { fields: { ...anna } })
    await waitForEngine(server.port, { target: '/admin/', fields: { ...bob } })
    const statuses = [
      ['/', anna, 200],
      ['/admin/', anna, 401],
      ['/', bob, 401],
      ['/admin/', bob, 200],
    ] as const
    for (const [target, fields, status] of statuses)
      expect((await requestTwice(server.port, { target, fields: { ...fields } })).status).toBe(status)
  })

  test('reload one by one: a refused build stays, and the others change', async () => {
    const [app, admin] = [await buildApp(), await buildAdmin()]
    const server = await startBoth([app, admin])
    await writeFile(join(admin, 'index.html'), 'second')
    await precompress(admin, { base: '/admin/', isHashed, appType: 'spa', assetsDirectory: 'assets' })
    await writeFile(join(app, 'index.html'), 'ppa')
    expect(await server.reload()).toMatchObject({
      status: 'swapped',
      problems: expect.arrayContaining([expect.stringContaining('index.html')]),
    })
    expect([await bodyOf(server, '/'), await bodyOf(server, '/admin/')]).toEqual(['app', 'second'])
    expect(await server.reload()).toMatchObject({ status: 'refused' })
    await writeFile(join(app, 'index.html'), 'app')
    expect(await server.reload()).toMatchObject({ status: 'unchanged' })
  })
})

describe('builds that overlap stop the start', () => {
  test.each<readonly [string, string, FixtureFiles, string]>([
    ['with equal bases', '/admin/', { 'index.html': 'b' }, 'have the same base /admin/'],
    ['with a file below the base of another', '/', { 'admin/index.html': 'b' }, '/admin/'],
    ['with a nested file', '/', { 'index.html': 'a', 'admin/x/y.txt': 'b' }, '/admin/x/y.txt'],
    ['with a page at the base of another', '/', { 'index.html': 'a', 'admin.html': 'b' }, '/admin'],
  ])('%s', async (_what, base, files, problem) => {
    const other = await buildAt(base, files)
    await expect(serve({ directory: [await buildAdmin(), other], port: 0 })).rejects.toThrow(problem)
  })

  test('and make the server refuse a later build', async () => {
    const [app, admin] = [await buildApp(), await buildAdmin()]
    const server = await startBoth([app, admin])
    await writeFile(join(app, 'admin.html'), 'page')
    await precompress(app)
    expect(await server.reload()).toMatchObject({
      status: 'refused',
      problems: [expect.stringContaining('/admin')],
    })
    expect(await bodyOf(server, '/')).toBe('app')
  })
})

test.each([[['--workers', '1']], [['--workers', '2', '--engine', 'node']]])(
  'the command serves several folders and watches all of them, %j',
  async (flags) => {
    const [app, admin] = [await buildApp(), await buildAdmin()]
    const command = spawnCommand([app, admin, '--port', '0', '--watch', ...flags])
    const server = await command.listening
    expect(server.url).toMatch(/\/$/)
    expect([await bodyOf(server, '/'), await bodyOf(server, '/admin/')]).toEqual(['app', 'admin'])
    await rm(join(admin, 'assets'), { recursive: true })
    await writeFile(join(admin, 'index.html'), 'second')
    await precompress(admin, { base: '/admin/', appType: 'spa' })
    await vi.waitFor(async () => expect(await bodyOf(server, '/admin/')).toBe('second'), { timeout: 60_000 })
    expect(await bodyOf(server, '/')).toBe('app')
    command.child.kill('SIGTERM')
    expect((await command.exited).code).toBe(0)
  },
)

test('a store cannot be combined with several folders', async () => {
  const { code, stderr } = await spawnCommand(['a', 'b', '--store', 'c']).exited
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('the folders a, b cannot be combined with --store'),
  ])
})
