import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { findProgram } from '../../scripts/find-program.mjs'
import { sendRequest } from '../src/send-request.ts'
import { startCommand } from '../src/start-command.ts'
import { startVarnish } from '../src/start-proxy.ts'
import { temporaryFolder } from '../src/temporary-folder.ts'

const varnish = await findProgram('varnishd')
const isRequired = process.platform === 'linux' && process.env['CI'] !== undefined

const codings = ['br', 'gzip']
const accepts = ['text/html,*/*;q=0.8', '*/*', 'image/avif,image/webp']
const modes = ['navigate', 'cors', 'no-cors', undefined]
/** All kinds of clients: the navigation fields and the codings. */
const clients = codings.flatMap((coding) =>
  accepts.flatMap((accept) =>
    modes.map((mode) => ({
      isNavigation: mode === 'navigate' || (mode === undefined && accept.includes('*/*')),
      headers: {
        accept,
        'accept-encoding': coding,
        ...(mode !== undefined && { 'sec-fetch-mode': mode }),
      },
    })),
  ),
)
type Client = (typeof clients)[number]
const navigations = clients.filter(({ isNavigation }) => isNavigation)

/** Starts a server whose pages caches may keep for a minute, behind Varnish. */
async function start(rules: string): Promise<URL> {
  if (varnish === undefined) throw new Error('the program is neither installed nor a package of this system')
  const { project, command } = inject('packedSpa')
  const directory = await temporaryFolder()
  const config = path.join(directory, 'serve-dist.config.json')
  await writeFile(config, JSON.stringify({ cacheControl: { '**/*.html': 'public, max-age=60' } }))
  const server = await startCommand(command, { args: ['--port', '0', '--config', config], cwd: project })
  onTestFinished(async () => void (await server.stop()))
  const options = { program: varnish, origin: server.url, directory }
  const proxy = await startVarnish(options, rules, ['http_gzip_support=off'])
  onTestFinished(() => proxy.stop())
  return proxy.url
}

/**
 * Returns statuses by client, and the stored objects of hits. Their `X-Varnish` names the object after the
 * request.
 */
async function ask(
  url: URL,
  all: readonly Client[],
): Promise<{ readonly statuses: readonly number[]; readonly objects: ReadonlySet<string> }> {
  const statuses: number[] = []
  const objects = new Set<string>()
  for (const { headers } of all) {
    const answer = await sendRequest(url, { headers })
    statuses.push(answer.status)
    const [, object] = String(answer.headers['x-varnish']).split(' ')
    if (object !== undefined) objects.add(object)
  }
  return { statuses, objects }
}

describe.skipIf(varnish === undefined && !isRequired)('Varnish before a build with cacheable pages', () => {
  test('stores a listed page once for each coding, for all clients', async () => {
    const url = await start('')
    await ask(url, clients)
    const { statuses, objects } = await ask(url, clients)
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(objects.size).toBe(codings.length)
  })

  test.each([
    [
      'for each kind of navigation and coding',
      undefined,
      new Set(navigations.map(({ headers }) => JSON.stringify(headers))).size,
    ],
    ['once for each coding, with deploy/varnish/navigations.vcl', 'navigations.vcl', codings.length],
  ])('stores the fallback page %s, and sends it only to navigations', async (_what, file, expected) => {
    const folder = fileURLToPath(new URL('../../deploy/varnish/', import.meta.url))
    const url = new URL(
      '/users/1',
      await start(file === undefined ? '' : await readFile(path.join(folder, file), 'utf8')),
    )
    // Request scripts before and after the pages are stored.
    for (const round of [1, 2]) {
      const { statuses } = await ask(url, clients)
      expect([round, statuses]).toEqual([
        round,
        clients.map(({ isNavigation }) => (isNavigation ? 200 : 404)),
      ])
    }
    expect((await ask(url, clients)).objects.size).toBe(expected)
  })
})
