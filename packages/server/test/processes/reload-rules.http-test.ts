import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { rawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const patience = { timeout: 60_000 }

/** Starts the command in a folder with a configuration. */
async function start(name: string, text: string, flags: readonly string[] = []) {
  const cwd = await temporaryDirectory()
  const config = join(cwd, name)
  await writeFile(config, text)
  const directory = await buildFixture({ 'index.html': 'page' })
  const command = spawnCommand([directory, '--port', '0', ...flags], { cwd })
  const { port } = await command.listening
  return {
    config,
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

  test('does not read a module again', async () => {
    const served = await start('serve-dist.config.mjs', `export default ${rules('first')}`)
    await writeFile(served.config, `export default ${rules('second')}`)
    expect(await served.reload()).toMatch(/is already being served\n$/)
    expect(await served.field()).toBe('first')
    expect(await served.stop()).toBe(0)
  })
})
