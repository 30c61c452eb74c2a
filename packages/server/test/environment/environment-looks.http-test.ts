import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { manifestPath, parseManifest, type RuntimeEnvironment } from '@serve-dist/manifest'
import { beforeAll, describe, expect, test } from 'vitest'
import { compareFolder } from '../../src/judge/compare-folder.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { runCheck } from '../support/run-check.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { startServer } from '../support/start-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const environment: RuntimeEnvironment = {
  path: 'serve-dist-env.js',
  prefix: 'APP_',
  variables: { API_URL: { type: 'string', required: true }, LIMIT: { type: 'number' } },
}
const page = '<!doctype html><script type="module" src="/serve-dist-env.js"></script>'

let directory: string
beforeAll(async () => {
  directory = await buildFixture(
    { 'index.html': page, '404.html': page, [environment.path]: '' },
    { environment },
  )
})

describe('a build with an environment', () => {
  test('works with explain and check although no values are set', async () => {
    const { code, stdout, stderr } = await spawnCommand(['explain', '/serve-dist-env.js', directory]).exited
    expect([code, stderr, stdout]).toEqual([
      0,
      'serve-dist: warning: the server would not start:\nAPP_API_URL: the build requires this environment variable, and it is not set\n',
      expect.stringContaining(
        '/serve-dist-env.js is the file serve-dist-env.js of the build, which the server generates when it loads the build, from: APP_API_URL, APP_LIMIT',
      ),
    ])
    expect(stdout).toMatch(/Cache-Control: no-cache\s.*regardless of rules/)
    expect(await runCheck([directory])).toMatchObject({ code: 0, found: ['environment-missing'] })
  })

  test('is explained without its values', async () => {
    const file = join(await temporaryDirectory(), 'stage.env')
    await writeFile(file, 'APP_API_URL=secret\n')
    const args = ['explain', '/serve-dist-env.js', directory, '--env-file', file]
    const { code, stdout, stderr } = await spawnCommand(args, { env: { APP_LIMIT: '31415' } }).exited
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).not.toMatch(/secret|31415/)
  })

  test('is checked against a site with other values', async () => {
    const { url } = await startServer(directory, {
      site: { environment: { APP_API_URL: 'https://other.example' } },
    })
    expect(await runCheck([url, '--build', directory, '--all'])).toMatchObject({ code: 0, found: [] })
  })

  test('is compared with its folder except for its module', async () => {
    const folder = await buildFixture({ 'index.html': page, [environment.path]: '' }, { environment })
    const { files } = parseManifest(await readFile(join(folder, manifestPath), 'utf8'))
    const same = { unlisted: [], missing: [], changed: [] }
    await writeFile(join(folder, environment.path), 'export default { API_URL: 1 }')
    expect(compareFolder(folder, { files })).toEqual(same)
    await rm(join(folder, environment.path))
    expect(compareFolder(folder, { files })).toEqual(same)
  })

  test('contains its values only in the bytes of its module', async () => {
    const site = await loadSite(directory, { environment: { APP_API_URL: 'https://only.example' } })
    expect(site.environment).toEqual({
      path: 'serve-dist-env.js',
      names: ['APP_API_URL', 'APP_LIMIT'],
      sha256: expect.stringMatching(/^[\da-f]{64}$/),
    })
    expect(inspect(site, { depth: Number.POSITIVE_INFINITY })).not.toContain('only.example')
  })
})
