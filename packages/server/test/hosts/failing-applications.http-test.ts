import { join } from 'node:path'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { openConnection } from '../support/open-connection.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { startServer } from '../support/start-server.ts'

let build: string
beforeAll(async () => {
  build = await buildFixture({ 'a.txt': 'a' })
})

const html = `const text = ${JSON.stringify(compressibleText(20_000))}; res.setHeader('Content-Type', 'text/html');`
const reason = 'res.statusMessage = "wrong\\nX-Split: 1";'

interface Outcome {
  /** The status that the client gets, or `cut` if its connection is closed early. */
  readonly outcome: number | 'cut'
  readonly log: string
}

async function outcomeOf(source: string, coding: string): Promise<Outcome> {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const directory = await writeFixture({ 'entry.mjs': source })
  const { port } = await startServer(build, { ssr: join(directory, 'entry.mjs') })
  const connection = await openConnection(port)
  connection.send(formatRequest({ target: '/page', fields: { 'Accept-Encoding': coding } }))
  const received = connection.receive().then(
    ({ status, field }) => (field('Content-Encoding') === undefined || status === 200 ? status : 'cut'),
    () => 'cut' as const,
  )
  const outcome = await received
  const log = written.mock.calls.join('\n')
  written.mockRestore()
  connection.socket.destroy()
  const file = await rawRequest(port, { target: '/a.txt' })
  expect(file.status).toBe(200)
  return { outcome, log }
}

describe.each(['identity', 'br'])(
  'a client that accepts %s gets a definite result if the application',
  (coding) => {
    const broken = '() => { throw new Error("wrapped") }'
    test.each([
      ['ends with a wrong reason', `${html} ${reason} res.end(text)`, 500],
      ['writes with a wrong reason', `${html} ${reason} res.write(text)`, 500],
      ['writes a head with a wrong reason', `${html} res.writeHead(200, "wrong\\n"); res.end(text)`, 500],
      ['leaves a wrong reason and throws', `${html} ${reason} throw new Error("broken")`, 500],
      ['leaves a wrong reason and passes on', `${html} ${reason} next()`, 500],
      ['leaves a wrong status', `${html} res.statusCode = 1; res.end(text)`, 500],
      [
        'leaves a wrong reason and fails later',
        `${html} ${reason} setImmediate(() => next(new Error("broken")))`,
        500,
      ],
      ['has wrapped writeHead and throws', `res.writeHead = ${broken}; throw new Error("broken")`, 500],
      ['has wrapped end and throws', `res.end = ${broken}; throw new Error("broken")`, 500],
      ['has wrapped end with nothing and throws', `res.end = () => res; throw new Error("broken")`, 500],
      ['has wrapped setHeader and throws', `res.setHeader = ${broken}; throw new Error("broken")`, 500],
      [
        'has wrapped getHeaderNames and throws',
        `res.getHeaderNames = ${broken}; throw new Error("broken")`,
        500,
      ],
      ['has wrapped all and passes on', `res.writeHead = res.end = res.setHeader = ${broken}; next()`, 500],
      [
        'has defined end for good',
        `Object.defineProperty(res, "end", { value: ${broken}, writable: false }); throw new Error("x")`,
        'cut',
      ],
      [
        'has wrapped destroy in mid-body',
        `${html} res.write(text); res.destroy = ${broken}; throw new Error("broken")`,
        'cut',
      ],
      [
        'throws what cannot be printed',
        'throw new Proxy(new Error("x"), { get() { throw new Error("hidden") } })',
        500,
      ],
      [
        'throws what prints badly',
        'throw { [Symbol.for("nodejs.util.inspect.custom")]() { throw new Error("hidden") } }',
        500,
      ],
    ])('%s', async (_what, source, expected) => {
      const { outcome, log } = await outcomeOf(`export default (req, res, next) => { ${source} }`, coding)
      expect(outcome).toBe(expected)
      expect(log).toContain('serve-dist: the application failed (GET /page): ')
    })
  },
)

describe('a function of fetch that rejects', () => {
  test.each([
    ['null', 'null'],
    ['undefined', 'undefined'],
    ['"text"', "'text'"],
    ['Symbol("mark")', 'Symbol(mark)'],
    ['0', '0'],
    ['{}', '{}'],
  ])('with %s gets a 500 that the log explains', async (value, shown) => {
    for (const source of [`async () => { throw ${value} }`, `() => { throw ${value} }`]) {
      const { outcome, log } = await outcomeOf(`export const fetch = ${source}`, 'identity')
      expect(outcome).toBe(500)
      expect(log).toContain(`serve-dist: the application failed (GET /page): `)
      expect(log).toContain(shown)
    }
  })
})

test('a Node handler of one parameter gets a 500, and the log explains how serve-dist distinguishes handlers', async () => {
  const source = 'export default (req, ...others) => others[0]?.end("made") ?? false'
  const { outcome, log } = await outcomeOf(source, 'identity')
  expect(outcome).toBe(500)
  expect(log).toContain(
    'found boolean. If this is a Node handler, declare two parameters (request, response).',
  )
})

describe('a module whose top-level await never ends', () => {
  const never = 'await new Promise(() => {}); export default (req, res) => res.end()'

  test('ends the command if nothing else is pending', async () => {
    const directory = await writeFixture({ 'entry.mjs': 'export * from "./waits.mjs"', 'waits.mjs': never })
    const args = [build, '--port', '0', '--ssr', 'entry.mjs']
    const { code, stderr } = await spawnCommand(args, { cwd: directory }).exited
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(
        'serve-dist: SD_APPLICATION_UNUSABLE: entry.mjs: cannot load this module: Error: its top-level await never ends',
      ),
    ])
  })

  test.each([
    ['in one process', 'setInterval(() => {}, 1000)', []],
    // The worker's channel to the primary process stays open.
    ['in workers', '', ['--workers', '2']],
  ])(
    'is reported after some seconds if other work is pending, %s; a signal ends the command',
    async (_what, more, flags) => {
      const directory = await writeFixture({ 'entry.mjs': `${more};${never}` })
      const args = [build, '--port', '0', '--ssr', 'entry.mjs', ...flags]
      const command = spawnCommand(args, { cwd: directory })
      await vi.waitUntil(() => command.complaints() !== '')
      command.child.kill('SIGTERM')
      const { code, stderr } = await command.exited
      expect([code, stderr]).toEqual([
        143,
        expect.stringContaining(
          'serve-dist: still loading entry.mjs after 5 seconds. The server waits because a top-level await in it or in an imported module has not ended\n',
        ),
      ])
    },
  )
})
