import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { RuntimeEnvironment } from '@serve-dist/manifest'
import { openStore, publish, rollback } from '@serve-dist/store'
import { describe, expect, test, vi } from 'vitest'
import { readValues } from '../environment/read-values.ts'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { rawRequest } from '../support/raw-request.ts'
import type { RawResponse } from '../support/parse-response.ts'
import { type RunningCommand, spawnCommand } from '../support/spawn-command.ts'
import { endCommand } from '../support/stop-command.ts'
import { makeStore, type StoreFixture } from '../support/start-from-store.ts'

const patience = { timeout: 20_000, interval: 50 }
const stages = ['test', 'live'] as const
const originOf = (stage: string): string => `https://api.${stage}.example`

const environment: RuntimeEnvironment = {
  path: 'serve-dist-env.js',
  prefix: '',
  variables: { API_URL: { type: 'string', required: true } },
}

/** Publishes a build whose values come from the environment of each server. */
async function deploy(place: StoreFixture, page: string): Promise<void> {
  const directory = await buildFixture(
    { 'index.html': page, [`assets/entry-${page}.js`]: page, [environment.path]: '' },
    {
      environment,
      serving: { csp: { 'connect-src': [{ env: 'API_URL' }] } },
      isHashed: (path) => path.startsWith('assets/'),
      assetsDirectory: 'assets',
    },
  )
  await publish(directory, await openStore(place.store))
}

function commandOf({ store, storeCache }: StoreFixture, flags: readonly string[], env = {}): RunningCommand {
  return spawnCommand(['--store', store, '--store-cache', storeCache, '--port', '0', ...flags], { env })
}

async function ask({ listening }: RunningCommand, target: string): Promise<RawResponse> {
  return await rawRequest((await listening).port, { target })
}

async function becomes(command: RunningCommand, page: string): Promise<void> {
  await vi.waitFor(async () => expect((await ask(command, '/')).body.toString()).toBe(page), patience)
}

describe('two stages of one store, with one cache', () => {
  test('have separate values and matching policies, through a deploy and a rollback', async () => {
    const place = await makeStore()
    await deploy(place, 'one')
    const commands = stages.map((stage) =>
      commandOf(place, ['--csp', 'enforce'], { API_URL: originOf(stage) }),
    )
    const expectStages = async (page: string): Promise<void> => {
      for (const [index, command] of commands.entries()) {
        await becomes(command, page)
        const origin = originOf(stages[index] ?? '')
        const module = await ask(command, `/${environment.path}`)
        expect(await readValues(module.body.toString())).toEqual({ API_URL: origin })
        expect(module.field('Cache-Control')).toBe('no-cache')
        const policy = (await ask(command, '/')).field('Content-Security-Policy')
        expect(policy).toContain(`connect-src ${origin};`)
      }
    }
    await expectStages('one')
    await deploy(place, 'two')
    await expectStages('two')
    await rollback(await openStore(place.store))
    await expectStages('one')
    expect(await readdir(place.storeCache)).toHaveLength(1)
    for (const command of commands) await endCommand(command)
  })

  test('fail to start without a required value, and use report-only only with a flag', async () => {
    const place = await makeStore()
    await deploy(place, 'one')
    const { code, stderr } = await commandOf(place, []).exited
    expect([code, stderr]).toEqual([1, expect.stringContaining('API_URL')])
    const command = commandOf(place, ['--csp', 'report-only'], { API_URL: originOf('test') })
    const page = await ask(command, '/')
    expect(page.field('Content-Security-Policy')).toBeUndefined()
    expect(page.field('Content-Security-Policy-Report-Only')).toContain(`connect-src ${originOf('test')};`)
    await endCommand(command)
  })
})

describe('--ssr with --store', () => {
  test.each([
    ['one process', []],
    ['two workers', ['--workers', '2']],
  ])('renders what the store does not have, and swaps files independently: %s', async (_how, flags) => {
    const place = await makeStore()
    await deploy(place, 'one')
    const folder = await writeFixture({
      'entry.mjs': 'export default (request, response) => response.end(`rendered ${request.url}`)',
    })
    const command = commandOf(place, ['--ssr', join(folder, 'entry.mjs'), ...flags], {
      API_URL: originOf('live'),
    })
    await becomes(command, 'one')
    expect((await ask(command, '/news?page=2')).body.toString()).toBe('rendered /news?page=2')
    // A tab of another build must not get a page instead of its script.
    expect((await ask(command, '/assets/none-1.js')).status).toBe(404)
    expect((await ask(command, '/blobs/')).body.toString()).toBe('rendered /blobs/')
    await deploy(place, 'two')
    await becomes(command, 'two')
    expect((await ask(command, '/news')).body.toString()).toBe('rendered /news')
    for (const name of ['one', 'two']) {
      expect((await ask(command, `/assets/entry-${name}.js`)).body.toString()).toBe(name)
    }
    expect(await endCommand(command)).not.toMatch(/refused|warning/)
  })
})
