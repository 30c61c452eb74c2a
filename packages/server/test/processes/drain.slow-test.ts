import { Agent, get, type IncomingMessage, type RequestOptions } from 'node:http'
import type { Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { http2Request } from '../support/http2-request.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { type RunningCommand, spawnCommand } from '../support/spawn-command.ts'
import { supervise } from '../support/supervise.ts'
import { availableEngines, hasNative } from '../support/tested-engine.ts'

const restarts = 50
const files = {
  'index.html': Buffer.from('page'),
  'app.js': Buffer.from(compressibleText(20_000)),
  'large.bin': Buffer.alloc(1024 * 1024, 'abcdefg'),
}
const bodies = new Map([
  ['/', files['index.html']],
  ['/app.js', files['app.js']],
  ['/large.bin', files['large.bin']],
])
const targets = ['/', '/app.js', '/app.js', '/large.bin']

let directory: string
beforeAll(async () => {
  directory = await buildFixture(files)
})

/** Sends one request without a retry. Anything but the whole file is an error. */
async function ask(port: number, target: string, agent: RequestOptions['agent']): Promise<void> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ port, host: '127.0.0.1', path: target, agent }, resolve).once('error', reject)
  })
  const body = await buffer(response)
  if (response.statusCode !== 200 || bodies.get(target)?.equals(body) !== true) {
    throw new Error(`${target}: ${response.statusCode} with ${body.length} bytes`)
  }
}

function socketsOf({ sockets }: Agent): Socket[] {
  return Object.values(sockets).flatMap((some) => some ?? [])
}

/** Starts an instance with its own port, and the connections that a load balancer keeps to it. */
async function launch(engine: string): Promise<Instance> {
  const command = spawnCommand([directory, '--port', '0', '--memory-budget', '512k', '--engine', engine])
  const { port } = await command.listening
  return { command, port, agent: new Agent({ keepAlive: true }) }
}

interface Instance {
  readonly command: RunningCommand
  readonly port: number
  readonly agent: Agent
}

/** Starts clients that send requests until they are stopped. */
function startClients(count: number, askOne: (target: string, client: number) => Promise<void>): Clients {
  const failures: string[] = []
  const stopping = new AbortController()
  let answered = 0
  const running = Array.from({ length: count }, async (_, client) => {
    for (let index = client; !stopping.signal.aborted; index += 1) {
      try {
        await askOne(targets[index % targets.length] ?? '/', client)
        answered += 1
      } catch (error) {
        failures.push(String(error))
      }
    }
  })
  return {
    failures,
    answered: () => answered,
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  }
}

interface Clients {
  readonly failures: readonly string[]
  readonly answered: () => number
  stop(): Promise<void>
}

/** Like {@link ask}, on its own HTTP/2 session. */
async function askOverHttp2(port: number, target: string): Promise<void> {
  const { status, body } = await http2Request(port, { target })
  if (status !== 200 || bodies.get(target)?.equals(body) !== true) {
    throw new Error(`${target}: ${status} with ${body.length} bytes`)
  }
}

const cases: readonly (readonly [how: string, times: number, flags: readonly string[], isSecure: boolean])[] =
  [
    ['one process each', restarts, [], false],
    ['two workers each', 20, ['--workers', '2'], false],
    ['one process each, over TLS by HTTP/2', 20, [], true],
  ]
const nativeCases: typeof cases = [
  ['one native engine each', restarts, ['--engine', 'native'], false],
  ['one native engine each, over TLS by HTTP/2', 20, ['--engine', 'native'], true],
]

describe.skipIf(process.platform === 'win32').each([...cases, ...(hasNative ? nativeCases : [])])(
  'restarts of two instances under load, %s: %d',
  (_what, times, args, isSecure) => {
    test('lose no request of unaware clients if the instances share a socket', async () => {
      const { cert, key } = await writeCertificate()
      const tls = isSecure ? ['--tls-cert', cert, '--tls-key', key] : []
      const supervisor = await supervise([directory, '--memory-budget', '512k', ...args, ...tls])
      let instances = [await supervisor.start(), await supervisor.start()]
      const clients = startClients(8, (target) =>
        isSecure ? askOverHttp2(supervisor.port, target) : ask(supervisor.port, target, false),
      )
      const codes = new Set<number>()
      for (let restart = 0; restart < times; restart += 1) {
        const [oldest = 0, ...others] = instances
        codes.add(await supervisor.stop(oldest))
        instances = [...others, await supervisor.start()]
      }
      await clients.stop()
      for (const instance of instances) codes.add(await supervisor.stop(instance))
      expect(clients.failures).toEqual([])
      expect([...codes]).toEqual([0])
      expect(clients.answered()).toBeGreaterThan(10 * times)
    })
  },
)

describe.skipIf(process.platform === 'win32')(`${restarts} restarts of two instances under load`, () => {
  test.each(availableEngines)(
    'lose no request of a load balancer that drains the stopping instance first: %s',
    async (engine) => {
      const first = await launch(engine)
      const rotation = [first, await launch(engine)]
      const clients = startClients(8, async (target, client) => {
        const instance = rotation[client % rotation.length] ?? first
        await ask(instance.port, target, instance.agent)
      })
      const codes = new Set<number | null>()
      for (let restart = 0; restart < restarts; restart += 1) {
        const going = rotation.shift()
        if (going === undefined) throw new TypeError('nobody serves')
        // The test must have sent all pending connections and requests before it sends the signal.
        await vi.waitUntil(() => !socketsOf(going.agent).some(({ connecting }) => connecting), {
          interval: 1,
        })
        await nextTurn()
        // Responses are now in every state, and some connections are idle.
        going.command.child.kill('SIGTERM')
        const { code } = await going.command.exited
        codes.add(code)
        rotation.push(await launch(engine))
      }
      await clients.stop()
      for (const { command, agent } of rotation) {
        agent.destroy()
        command.child.kill('SIGTERM')
        const { code } = await command.exited
        codes.add(code)
      }
      expect(clients.failures).toEqual([])
      expect([...codes]).toEqual([0])
      expect(clients.answered()).toBeGreaterThan(10 * restarts)
    },
  )
})
