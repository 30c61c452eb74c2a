import { loadEngine } from '@serve-dist/engine'
import { shortId } from '@serve-dist/foundation/text/short-id'
import { describe, expect, test, vi } from 'vitest'
import { writeCertificate } from '../support/make-certificate.ts'
import { createNumberedBuilds } from '../support/create-numbered-builds.ts'
import { startSoakCommand } from '../support/soak/soak-command.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { startSwapClients } from '../support/swap-clients.ts'

const swaps = 100

/** Enough swaps for transports and workers. The 100 swaps below test how builds are kept. */
const fewSwaps = 5

describe.skipIf(process.platform !== 'linux')('a server under full load', () => {
  test.each([
    ...(typeof loadEngine() === 'string'
      ? []
      : [['by the native engine', 'http', ['--engine', 'native']] as const]),
    ['by two workers', 'http', ['--workers', '2']],
    ['over TLS', 'https', []],
    ['by two workers, streamed, over TLS', 'https', ['--workers', '2', '--memory-budget', '50']],
  ] as const)(`swaps ${fewSwaps} builds %s`, async (_how, scheme, flags) => {
    const builds = await createNumberedBuilds(fewSwaps + 1)
    await builds.deploy()
    const { cert, key } = await writeCertificate()
    const tls = scheme === 'https' ? ['--tls-cert', cert, '--tls-key', key] : []
    const command = spawnCommand([builds.directory, '--port', '0', ...flags, ...tls])
    const { port } = await command.listening
    const clients = startSwapClients(port, builds, scheme)
    for (let swap = 0; swap < fewSwaps; swap += 1) {
      const { buildId } = await builds.deploy()
      command.child.kill('SIGHUP')
      await vi.waitFor(
        () => expect(command.complaints()).toContain(`now serving build ${shortId(buildId)}`),
        { timeout: 30_000, interval: 5 },
      )
      clients.noteServed(builds.newest())
    }
    await clients.finish()
    expect(clients.failures).toEqual([])
    expect(command.complaints()).not.toMatch(/refused|stuck|ended/)
    expect(Object.keys(clients.answers)).toHaveLength(scheme === 'https' ? 6 : 5)
    command.child.kill('SIGTERM')
    expect((await command.exited).code).toBe(0)
  })

  test('swaps 100 builds without a failed, truncated or mixed response', async () => {
    const builds = await createNumberedBuilds(swaps + 1)
    await builds.deploy()
    const signalled = await startSoakCommand([builds.directory])
    const watching = await startSoakCommand([builds.directory, '--memory-budget', '50', '--watch'])
    const commands = [
      ['from memory, by SIGHUP', signalled],
      ['streamed, by --watch', watching],
    ] as const
    const servers = await Promise.all(
      commands.map(async ([how, command]) => {
        const before = await command.measure()
        return { how, command, before, clients: startSwapClients(command.port, builds) }
      }),
    )

    const begun = performance.now()
    for (let swap = 0; swap < swaps; swap += 1) {
      const { buildId } = await builds.deploy()
      const line = `now serving build ${shortId(buildId)}`
      signalled.child.kill('SIGHUP')
      await Promise.all(
        servers.map(async ({ command, clients }) => {
          await vi.waitFor(() => expect(command.complaints()).toContain(line), {
            timeout: 30_000,
            interval: 5,
          })
          clients.noteServed(builds.newest())
        }),
      )
    }
    const seconds = ((performance.now() - begun) / 1000).toFixed(0)
    await Promise.all(servers.map(({ clients }) => clients.finish()))

    for (const { how, command, before, clients } of servers) {
      console.log(`${how}: ${swaps} swaps in ${seconds} s under ${JSON.stringify(clients.answers)}`)
      expect.soft(clients.failures, how).toEqual([])
      expect.soft(command.complaints(), how).not.toContain('refused')
      expect.soft(Object.keys(clients.answers), how).toHaveLength(5)
      const after = await vi.waitFor(
        async () => {
          const holdings = await command.measure()
          expect(holdings.sockets).toBe(0)
          expect(holdings.descriptors).toBeLessThanOrEqual(before.descriptors)
          return holdings
        },
        { timeout: 10_000, interval: 200 },
      )
      console.log(`${how}: ${JSON.stringify({ before, after })}`)
      // Half the memory of one more build.
      expect.soft(after.heap - before.heap, how).toBeLessThan(10_000_000)
    }
    // A busy machine needs minutes.
  }, 900_000)
})
