import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { openConnection } from '../support/open-connection.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { readChildProcessIds } from '../support/read-child-process-ids.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { startTarget } from '../support/start-target.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { twoProcessFlags } from '../support/two-process-flags.ts'
import { withoutUndici } from '../support/without-undici.ts'
import { webSocketHandshake } from '../support/web-socket-handshake.ts'

const patience = { timeout: 60_000 }

/** Starts the command in a folder with a configuration. */
async function start(
  name: string,
  text: string,
  flags: readonly string[] = [],
  nodeOptions: readonly string[] = [],
) {
  const cwd = await temporaryDirectory()
  const config = join(cwd, name)
  await writeFile(config, text)
  const directory = await buildFixture({ 'index.html': 'page' })
  const command = spawnCommand([directory, '--port', '0', ...flags], { cwd, nodeOptions })
  const { port } = await command.listening
  return {
    command,
    config,
    port,
    field: async (): Promise<string | undefined> => (await rawRequest(port)).field('X-Stage'),
    /** Sends SIGHUP and returns the printed outcome. */
    async reload(): Promise<string> {
      const before = command.complaints().length
      command.child.kill('SIGHUP')
      await vi.waitUntil(() => command.complaints().slice(before).endsWith('\n'), patience)
      return command.complaints().slice(before)
    },
    async stop(): Promise<number | null> {
      command.child.kill('SIGTERM')
      return (await command.exited).code
    },
  }
}

const rules = (value: string): string => JSON.stringify({ headers: { '**': { 'X-Stage': value } } })

const proxying = (to: string): string =>
  JSON.stringify({ redirects: [{ from: '/api/*', to, status: 200, force: true }] })

describe.skipIf(process.platform === 'win32')('SIGHUP', () => {
  test.each([[['--workers', '1']], [['--workers', '2']]])(
    'reads serve-dist.config.json again, %j',
    async (flags) => {
      const served = await start('serve-dist.config.json', rules('first'), flags)
      expect(await served.field()).toBe('first')
      await writeFile(served.config, rules('second'))
      expect(await served.reload()).toMatch(/^serve-dist: now serving build [\da-f]{12} with new rules\n$/)
      expect(await served.field()).toBe('second')
      await writeFile(served.config, '{ "headres": {} }')
      expect(await served.reload()).toContain('headres: unknown rule. Did you mean "headers"?')
      expect(await served.field()).toBe('second')
      await writeFile(served.config, rules('second'))
      expect(await served.reload()).toMatch(/is already being served\n$/)
      await rm(served.config)
      expect(await served.reload()).toContain('with new rules')
      expect(await served.field()).toBeUndefined()
      expect(await served.stop()).toBe(0)
    },
  )

  test.each([[['--workers', '1']], [['--workers', '2']]])('does not remove basicAuth, %j', async (flags) => {
    const variables = join(await temporaryDirectory(), 'variables')
    await writeFile(variables, 'SITE_PASSWORD=name:password')
    const guarded = JSON.stringify({ basicAuth: { env: 'SITE_PASSWORD' } })
    const served = await start('serve-dist.config.json', guarded, [...flags, '--env-file', variables])
    const refusal = 'but the running one does. Add it again, or restart to remove basicAuth.'
    await writeFile(served.config, rules('second'))
    expect(await served.reload()).toContain(refusal)
    expect((await rawRequest(served.port)).status).toBe(401)
    await rm(served.config)
    expect(await served.reload()).toContain(refusal)
    expect((await rawRequest(served.port)).status).toBe(401)
    expect(await served.stop()).toBe(0)
  })

  // Only Linux lists the processes of a process.
  test.runIf(process.platform === 'linux')(
    'does not replace workers by others without basicAuth',
    async () => {
      const variables = join(await temporaryDirectory(), 'variables')
      await writeFile(variables, 'SITE_PASSWORD=name:password')
      const guarded = JSON.stringify({ basicAuth: { env: 'SITE_PASSWORD' } })
      const served = await start('serve-dist.config.json', guarded, [
        ...(await twoProcessFlags()),
        '--env-file',
        variables,
      ])
      await rm(served.config)
      for (const worker of await readChildProcessIds(served.command.child.pid))
        process.kill(worker, 'SIGKILL')
      await vi.waitUntil(() => served.command.complaints().includes('restart to remove basicAuth.'), patience)
      await writeFile(served.config, guarded)
      // Connections wait until a worker listens again.
      await expect
        .poll(async () => (await rawRequest(served.port).catch(() => undefined))?.status, patience)
        .toBe(401)
      expect(await served.stop()).toBe(0)
    },
  )

  test.each([[['--workers', '1']], [['--workers', '2']]])(
    'adds the first rule that proxies, with uploads and WebSockets, %j',
    async (flags) => {
      const accepted = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
      const target = await startTarget(({ body, values }, socket) => {
        const answer = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`
        socket.write(values('Upgrade').length > 0 ? accepted : answer)
      })
      const served = await start('serve-dist.config.json', '{}', flags)
      await writeFile(served.config, proxying(target.url))
      expect(await served.reload()).toContain('with new rules')
      const upload = await openConnection(served.port)
      const fields = { Expect: '100-continue', 'Content-Length': '5' }
      upload.send(formatRequest({ target: '/api/x', method: 'POST', fields }))
      expect((await upload.receive()).status).toBe(100)
      upload.send('hello')
      expect((await upload.receive()).body.toString()).toBe('hello')
      const socket = await openConnection(served.port)
      socket.send(formatRequest({ target: '/api/x', fields: webSocketHandshake }))
      expect((await socket.receive()).status).toBe(101)
      socket.socket.destroy()
      expect(await served.stop()).toBe(0)
    },
  )

  test('keeps the old rules if a new one proxies and undici is missing', async () => {
    const served = await start('serve-dist.config.json', rules('first'), [], withoutUndici)
    await writeFile(served.config, proxying('http://127.0.0.1:1'))
    expect(await served.reload()).toContain(
      'a rule that proxies needs the package undici, which is not installed. Run: npm install undici',
    )
    expect(await served.field()).toBe('first')
    expect((await rawRequest(served.port, { target: '/api/x' })).body.toString()).toBe('page')
    expect(await served.stop()).toBe(0)
  })

  test('does not read a module again', async () => {
    const served = await start('serve-dist.config.mjs', `export default ${rules('first')}`)
    await writeFile(served.config, `export default ${rules('second')}`)
    expect(await served.reload()).toMatch(/is already being served\n$/)
    expect(await served.field()).toBe('first')
    expect(await served.stop()).toBe(0)
  })
})
