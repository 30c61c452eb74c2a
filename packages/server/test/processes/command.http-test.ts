import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { availableParallelism, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { manifestPath } from '@serve-dist/manifest'
import { beforeAll, describe, expect, test } from 'vitest'
import { flagName, serveFlags } from '../../src/command/flags.ts'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { runCheck } from '../support/run-check.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { openConnection } from '../support/open-connection.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { type RunningCommand, spawnCommand } from '../support/spawn-command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { isNative } from '../support/tested-engine.ts'

const files = { 'index.html': 'page', 'app.js': compressibleText(5000) }
const large = Buffer.alloc(16 * 1024 * 1024, 'abcdefg')
const packageFile = new URL('../../package.json', import.meta.url)

let directory: string
beforeAll(async () => {
  directory = await buildFixture(files)
})

/** Returns the first IPv4 address of this machine in a network. */
function externalAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces()).flat()
  return addresses.find((each) => each?.family === 'IPv4' && !each.internal)?.address
}

/** Stops the command as a container runtime does. */
async function stop({ child, exited }: RunningCommand): Promise<number | null> {
  child.kill('SIGTERM')
  const { code } = await exited
  return code
}

describe('serve-dist', () => {
  test('prints one line with its files and its URL, and serves', async () => {
    const command = spawnCommand([directory, '--port', '0'])
    const { line, port } = await command.listening
    expect(line).toMatch(
      /^serve-dist \d+\.\d+\.\d+\S* · 2 files, 3 variants, \d+\.\d kB in memory · engine: (?:native|node)(?: \(.+\))? · http:\/\/127\.0\.0\.1:\d+\/$/,
    )
    const response = await rawRequest(port, { target: '/', fields: { 'Accept-Encoding': 'zstd, br, gzip' } })
    expect([response.status, response.body.toString()]).toEqual([200, 'page'])
    expect(await stop(command)).toBe(0)
    const { stdout, stderr } = await command.exited
    expect([stdout, stderr]).toEqual([`${line}\n`, ''])
  })

  test('uses and prints the engine of the environment variable', async () => {
    const command = spawnCommand([directory, '--port', '0'], { env: { SERVE_DIST_ENGINE: 'node' } })
    expect((await command.listening).line).toContain(' in memory · engine: node · http')
    expect(await stop(command)).toBe(0)
  })

  test.skipIf(!isNative || process.platform !== 'linux' || availableParallelism() < 2)(
    'uses the native engine in front of an application, with one thread for each core',
    async () => {
      const application = join(await temporaryDirectory(), 'application.mjs')
      await writeFile(application, 'export default (request, response, next) => next()')
      const env = { SERVE_DIST_ENGINE: 'auto' }
      const words = [directory, '--port', '0', '--ssr', application]
      const engines = [spawnCommand(words, { env, cores: '0' }), spawnCommand(words, { env, cores: '0,1' })]
      const lines = await Promise.all(engines.map(async ({ listening }) => (await listening).line))
      expect(lines).toEqual([
        expect.stringContaining(' · engine: native · '),
        expect.stringContaining(' · engine: native (2 threads) · '),
      ])
    },
  )

  test('rejects the native engine together with unsupported features', async () => {
    // Another program may start the command as a cluster worker.
    const env = { NODE_UNIQUE_ID: '1' }
    const { code, stderr } = await spawnCommand([directory, '--engine', 'native'], { env }).exited
    expect([code, stderr]).toEqual([
      1,
      "serve-dist: SD_ENGINE_UNAVAILABLE: the native engine is not available: this process is a worker of another program, such as PM2. Use --engine auto to fall back to Node's engine.\n",
    ])
  })

  test('serves dist by default', async () => {
    const cwd = await temporaryDirectory()
    const inner = await buildFixture(files)
    await rename(inner, join(cwd, 'dist'))
    const command = spawnCommand(['--port', '0'], { cwd })
    await command.listening
    expect(await stop(command)).toBe(0)
  })

  test('reads the port and the host from the environment, and prefers the command line', async () => {
    const env = { PORT: '0', HOST: 'localhost' }
    const command = spawnCommand([directory], { env })
    const { url, port } = await command.listening
    expect(url).toBe(`http://localhost:${port}/`)
    expect(port).not.toBe(4173)
    const other = spawnCommand([directory, '--host', '127.0.0.1'], { env })
    const { url: otherUrl } = await other.listening
    expect(otherUrl).toMatch(/^http:\/\/127\.0\.0\.1:/)
    await Promise.all([stop(command), stop(other)])
  })

  test.each([
    [['--host', 'dist', '--port', '0'], 'localhost'],
    [['dist', '--port', '0', '--host'], 'localhost'],
    [['--host', '0.0.0.0', 'dist', '--port', '0'], 'localhost'],
    [['--host', '--port', '0'], 'localhost'],
    [['-H', '127.0.0.1', '-p', '0', '--workers', '2'], '127.0.0.1'],
    [['-H', '-p0', '--workers', '2'], 'localhost'],
    [['--host=127.0.0.1', '--port=0', 'dist'], '127.0.0.1'],
  ])('accepts a host with its value or without one: %j', async (args, host) => {
    const cwd = await temporaryDirectory()
    await rename(await buildFixture(files), join(cwd, 'dist'))
    const command = spawnCommand(args, { cwd })
    const { url, port } = await command.listening
    expect(url).toBe(`http://${host}:${port}/`)
    const { status } = await rawRequest(port, { target: '/app.js' })
    expect(status).toBe(200)
    await stop(command)
  })

  test.each(['0.0.0.0', '::', '*'])(
    'prints a URL for this machine and one for other machines if it listens on %s',
    async (host) => {
      const built = await buildFixture(files, { base: '/app/' })
      const command = spawnCommand([built, '--port', '0', `--host=${host}`])
      const { url, port } = await command.listening
      expect(url).toBe(`http://localhost:${port}/app/`)
      const outer = externalAddress()
      const ofOthers = outer === undefined ? undefined : `http://${outer}:${port}/app/`
      expect((await fetch(ofOthers ?? url)).status).toBe(200)
      await stop(command)
      const [, line] = (await command.exited).stdout.split('\n')
      expect(line).toBe(
        ofOthers === undefined
          ? 'listening on all addresses'
          : `listening on all addresses, for other machines · ${ofOthers}`,
      )
    },
  )

  test('reads one glob for each flag, so that the folder may follow', async () => {
    const folder = await writeFixture({ 'vendor/a.js': 'a', 'fonts/b.woff2': 'b', 'c.js': 'c' })
    const globs = ['--immutable', 'vendor/**', '--immutable', 'fonts/**']
    expect((await spawnCommand(['compress', ...globs, folder]).exited).code).toBe(0)
    const command = spawnCommand(['--port', '0', folder])
    const { port } = await command.listening
    const freshness = await Promise.all(
      ['/vendor/a.js', '/fonts/b.woff2', '/c.js'].map(async (target) =>
        (await rawRequest(port, { target })).field('Cache-Control'),
      ),
    )
    const immutable = 'public, max-age=31536000, immutable'
    expect(freshness).toEqual([immutable, immutable, 'no-cache'])
    await stop(command)
  })

  test.each(['--version', '-v'])('%s is the version of the package', async (flag) => {
    const { code, stdout } = await spawnCommand([flag]).exited
    const manifest: unknown = JSON.parse(await readFile(packageFile, 'utf8'))
    expect(code).toBe(0)
    expect(manifest).toMatchObject({ version: stdout.trim() })
  })

  test('--help fits one screen', async () => {
    const { code, stdout, stderr } = await spawnCommand(['--help']).exited
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(23)
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80)
    expect(stdout).toContain('--port')
    expect(stdout).not.toContain('--verify')
  })

  test('--help all shows every option, its environment variable and its default', async () => {
    const { code, stdout, stderr } = await spawnCommand(['--help', 'all']).exited
    expect([code, stderr]).toEqual([0, ''])
    for (const part of [
      '[dir...]',
      ...Object.keys(serveFlags).map(flagName),
      'env: PORT',
      '4173',
      'env: HOST',
      '127.0.0.1',
      'compress',
    ]) {
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(part)
    }
  })

  test.each<readonly [string, readonly string[], Readonly<Record<string, string>>, RegExp]>([
    [
      'an unknown option, with the nearest',
      ['--prot', '80'],
      {},
      /^serve-dist: SD_OPTION_INVALID: unknown option '--prot'. Did you mean --port\?\n/,
    ],
    [
      'a port that is no number',
      ['--port', 'http'],
      {},
      /--port: expected a whole number from 0 to 65535, found "http"/,
    ],
    ['a port above the maximum', ['--port', '65536'], {}, /a whole number from 0 to 65535/],
    [
      'an invalid port in the environment',
      [],
      { PORT: 'pipe' },
      / PORT: expected a whole number from 0 to 65535, found "pipe"/,
    ],
    [
      'an unknown value',
      ['--engine', 'rust'],
      {},
      /--engine: expected one of auto, native, node, found "rust"/,
    ],
    [
      'an invalid size',
      ['--memory-budget', 'lots'],
      {},
      /expected a size such as 65536, 64k or 1\.5 MB, found "lots"/,
    ],
    [
      'a mode of --csp',
      ['--csp', 'strict'],
      {},
      /: --csp: expected one of enforce, report-only, off, found "strict"\n/,
    ],
    ['a missing folder of two', ['.', 'b'], {}, /: b: the folder does not exist\. Build first, .+\n/],
    [
      'all invalid arguments at once',
      ['--grace', 'soon', '--fallback', 'q', '--nonsense'],
      {},
      /SD_OPTION_INVALID: 3 problems\. Run serve-dist --help all for usage:\n {2}--grace: expected a duration .+\n {2}--fallback: expected one of .+\n {2}unknown option '--nonsense'\n$/,
    ],
    [
      'a flag instead of a value',
      ['--port', '--host'],
      {},
      /--port: expected a value, found the flag --host/,
    ],
    [
      'no value',
      ['--port'],
      {},
      /: --port: expected a value, found nothing\nRun serve-dist --help all for usage\n$/,
    ],
    ['an unknown short flag', ['-x'], {}, /: unknown option '-x'\nRun serve-dist --help/],
    ['a flag of serve', ['-s'], {}, /: unknown option '-s'\. Remove it: the build says/],
    [
      'an invalid value of a short flag',
      ['-p', 'x'],
      { PORT: '0' },
      /: --port: expected a whole number .+, found "x"\n/,
    ],
    ['an unknown flag without a near match', ['--cert', 'a.pem'], {}, /: unknown option '--cert'\nRun/],
    [
      'a name that may be a folder or an address',
      ['--host', 'web', '--port', '0'],
      {},
      /: web: the folder does not exist\. .+ If web is a host name, write --host=web\n/,
    ],
    [
      'a host that is not an address of this machine',
      ['--host', '192.0.2.1', '--port', '0'],
      {},
      /192\.0\.2\.1 is not an address of this machine. Choose one with --host/,
    ],
  ])('rejects %s: exit code 1 and no stack trace', async (_what, args, env, message) => {
    const folder = args[0] === 'a' ? [] : [directory]
    const { code, stdout, stderr } = await spawnCommand([...folder, ...args], { env }).exited
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  test('explains a single folder that may be a host', async () => {
    const { code, stderr } = await spawnCommand(['--host', 'web']).exited
    expect([code, stderr]).toEqual([1, expect.stringContaining('If web is a host name, write --host=web\n')])
  })

  test.each([
    ['\nthrow new Error("boom")', 'line 2: boom. Correct this line.'],
    ['export default {', 'Unexpected end of input. To see the line, run: node {file}'],
    ['module.exports = {}', 'it is an ES module. Write "export default { … }".'],
    [
      'require("x")',
      'line 1: require is not defined in ES module scope, you can use import instead. Correct this line.',
    ],
    [
      'import "not-there"',
      "Cannot find package 'not-there' imported from {file}. To see the line, run: node {file}",
    ],
  ])('explains a configuration that Node cannot run: %j', async (text, problem) => {
    const file = join(await writeFixture({ 'rules.mjs': text }), 'rules.mjs')
    const { code, stderr } = await spawnCommand([directory, '--config', file]).exited
    expect([code, stderr]).toEqual([
      1,
      `serve-dist: SD_CONFIG_INVALID: ${file}: ${problem.replaceAll('{file}', file)}\n`,
    ])
  })

  test('refuses a configuration in a language that Node cannot run', async () => {
    const file = join(await writeFixture({ 'rules.tsx': 'export default {}' }), 'rules.tsx')
    const { code, stderr } = await spawnCommand([directory, '--config', file]).exited
    expect([code, stderr]).toEqual([
      1,
      `serve-dist: SD_CONFIG_INVALID: ${file}: Node.js ${process.versions.node} cannot run this file. Write it in JavaScript, or use a newer Node.js.\n`,
    ])
  })

  test('reports an invalid configuration as a finding of a check', async () => {
    const folder = await writeFixture({ 'serve-dist.config.mjs': 'export default {' })
    const { code, found } = await runCheck([await buildFixture({ '.env': 'KEY=1' })], folder)
    expect([code, found]).toEqual([1, ['SD_CONFIG_INVALID', 'secret-in-folder']])
  })

  test('shows the help of a command for each common spelling', async () => {
    const texts = await Promise.all(
      [
        ['compress', '--help'],
        ['help', 'compress'],
        ['--help', 'compress'],
        ['compress', '-h'],
      ].map(async (args) => (await spawnCommand(args).exited).stdout),
    )
    expect(texts[0]).toContain('--app-type')
    expect(new Set(texts).size).toBe(1)
    const { stdout } = await spawnCommand(['help']).exited
    expect(stdout).toBe((await spawnCommand(['--help']).exited).stdout)
  })

  test.each([
    ['chek', 'check'],
    ['reprot', 'report'],
    ['compres', 'compress'],
  ])('suggests the intended command for %s', async (word, name) => {
    const { code, stderr } = await spawnCommand([word]).exited
    expect([code, stderr]).toEqual([
      1,
      `serve-dist: SD_OPTION_INVALID: unknown command or folder "${word}". Did you mean serve-dist ${name}?\n`,
    ])
  })

  test.each([
    [
      ['compress', '-p', '1'],
      `'-p, --port <number>' belongs to the server. Remove it: "compress" does not have it.`,
    ],
    [
      ['compress', 'nowhere', '--ops', ':1'],
      `'--ops <address>' belongs to the server. Remove it: "compress" does not have it.`,
    ],
    [
      ['--port', '0', 'report', 'nowhere'],
      `'-p, --port <number>' belongs to the server. Remove it: "report" does not have it.`,
    ],
  ])('rejects options of the server that another command ignores: %j', async (args, message) => {
    const { code, stdout, stderr } = await spawnCommand(args).exited
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(message)
  })

  test('rejects an empty folder name', async () => {
    const { code, stderr } = await spawnCommand(['']).exited
    expect([code, stderr]).toEqual([
      1,
      'serve-dist: SD_OPTION_INVALID: the path of the folder is empty. Name the folder of the build.\nRun serve-dist --help all for usage\n',
    ])
  })

  test.each<readonly [readonly string[], string]>([
    [
      ['--prefer', 'smallest'],
      "option '--prefer' was removed: write the rule prefer in serve-dist.config.json",
    ],
    [['--source-maps=deny'], "option '--source-maps' was removed: write the rule sourceMaps in"],
    [['--socket-mode', '600'], "option '--socket-mode' was removed: write the permissions after the path"],
    [['dist', '--verify', 'hash'], "option '--verify' has no value: write --verify without a value"],
    [['--verify=size'], "option '--verify' was removed: write --verify without a value"],
    [['--no-manifest'], "option '--no-manifest' was removed: use --force"],
    [
      ['check', '--fallback', 'spa'],
      'option \'--fallback\' belongs to the server. For "check", write the rule fallback in',
    ],
    [['check', '--unlisted', 'warn'], "option '--unlisted' was removed: use --force"],
    [
      ['explain', '/', '--csp'],
      'option \'--csp\' belongs to the server. For "explain", set the variable CSP, or write the rule csp in',
    ],
    [['check', '--verify'], `option '--verify' belongs to the server. Remove it: "check" does not have it.`],
    [
      ['compress', '--cache-size', '0'],
      "option '--cache-size' was removed: use the option cacheSize of the plugin",
    ],
    [['publish', '--concurrency', '2'], "option '--concurrency' was removed: remove it"],
    [['report', '--noise', '1%'], "option '--noise' was removed: remove it"],
  ])('names the replacement of a removed flag: %j', async (args, message) => {
    const { code, stdout, stderr } = await spawnCommand(args).exited
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(message)
  })

  test.each<readonly [string, readonly string[]]>([
    ['serve-dist', []],
    ['serve-dist --workers', ['--workers', '2']],
    ['serve-dist check', ['check']],
    ['serve-dist explain', ['explain', '/']],
  ])('does not run %s if a removed variable is set', async (_command, args) => {
    const env = {
      SOURCE_MAPS: 'deny',
      SERVE_DIST_STORE_INTERVAL: '1s',
      SERVE_DIST_STORE_CACHE_SIZE: '',
      SERVE_DIST_ENGINE_CHECK: '1',
    }
    const { code, stdout, stderr } = await spawnCommand([...args, directory], { env }).exited
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('SD_OPTION_INVALID: 3 problems')
    expect(stderr).toContain(
      'the variable SOURCE_MAPS was removed. Unset it: write the rule sourceMaps in serve-dist.config.json',
    )
    expect(stderr).toContain('the variable SERVE_DIST_STORE_INTERVAL was removed. Unset it: ')
    expect(stderr).toContain('the variable SERVE_DIST_ENGINE_CHECK was removed. Unset it: ')
  })

  test('refers to the help of the command in question, and to its own flags', async () => {
    const { code, stderr } = await spawnCommand(['compress', directory, '--bse', '/']).exited
    expect([code, stderr]).toEqual([
      1,
      "serve-dist: SD_OPTION_INVALID: unknown option '--bse'. Did you mean --base?\nRun serve-dist compress --help for usage\n",
    ])
  })

  test.each([
    [['compress', '--immutable', ''], '--immutable: expected a glob', ' compress', '""'],
    [
      ['compress', '--include', '*a*b*c*d'],
      '--include: expected a glob with at most 3 stars',
      ' compress',
      '"*a*b*c*d"',
    ],
    [['compress', '--exclude', ''], '--exclude: expected a glob', ' compress', '""'],
    [
      ['compress', '--base', 'app'],
      '--base: expected a path that begins and ends with "/"',
      ' compress',
      '"app"',
    ],
  ])(
    'names the flag with an unusable glob or path, as the user wrote it: %j',
    async (args, expected, command, found) => {
      const { code, stderr } = await spawnCommand(args).exited
      expect([code, stderr.startsWith(`serve-dist: SD_OPTION_INVALID: ${expected}`)]).toEqual([1, true])
      expect(stderr.endsWith(`, found ${found}\nRun serve-dist${command} --help for usage\n`)).toBe(true)
    },
  )

  test('explains how to find the process that uses the port', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const address = other.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const { code, stderr } = await spawnCommand([directory, '--port', String(port)]).exited
    other.close()
    expect([code, stderr]).toEqual([
      1,
      `serve-dist: SD_LISTEN_FAILED: port ${port} on 127.0.0.1 is in use. Stop the program that uses it, or choose another port with --port (0 picks a free one).\n`,
    ])
  })

  test.each<readonly [string, (folder: string) => Promise<unknown>, readonly string[], RegExp]>([
    [
      'a missing folder',
      (folder) => rm(folder, { recursive: true }),
      [],
      /^serve-dist: SD_BUILD_NOT_FOUND: \S+: the folder does not exist\. Build first, or pass the folder that the build wrote\.\n$/,
    ],
    ['a missing variant', (folder) => rm(join(folder, 'app.js.br')), [], /\n {2}app\.js\.br: is missing\n$/],
    [
      'a truncated file',
      (folder) => truncate(join(folder, 'app.js'), 5),
      [],
      /\n {2}app\.js: has 5 bytes, the manifest says \d+\n$/,
    ],
    [
      'other bytes, if digests are verified',
      (folder) => writeFile(join(folder, 'index.html'), 'gape'),
      ['--verify'],
      /\n {2}index\.html: has other bytes than the manifest says \(SHA-256 differs\)\n$/,
    ],
    [
      'a corrupted manifest',
      (folder) => truncate(join(folder, manifestPath), 50),
      [],
      /manifest\.json: \$: not JSON .*\nBuild again\. /,
    ],
  ])('rejects %s with one message, exit code 1 and no stack trace', async (_what, spoil, args, message) => {
    const folder = await buildFixture(files)
    await spoil(folder)
    const { code, stdout, stderr } = await spawnCommand([folder, '--port', '0', ...args]).exited
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  test('warns that a build has no page if no application renders them', async () => {
    const folder = await buildFixture({ 'library.js': 'script' })
    const entry = join(
      await writeFixture({ 'entry.mjs': 'export default (req, res) => res.end()' }),
      'entry.mjs',
    )
    const complaints = async (...flags: readonly string[]): Promise<string> => {
      const command = spawnCommand([folder, '--port', '0', ...flags])
      await command.listening
      await stop(command)
      return command.complaints()
    }
    expect(await complaints()).toBe(
      'serve-dist: warning: the build has no page. If a server renders its pages, name its module: --ssr <module>\n',
    )
    expect(await complaints('--ssr', entry)).toBe('')
    expect(await complaints('--fs-fallback')).toBe('')
  })

  test('reports a file that changed after the start once, and serves the other files', async () => {
    const folder = await buildFixture(files)
    const command = spawnCommand([folder, '--port', '0', '--memory-budget', '0'])
    const { port } = await command.listening
    await truncate(join(folder, 'app.js'), 5)
    for (let index = 0; index < 3; index += 1) {
      const response = await rawRequest(port, { target: '/app.js' })
      expect(response.status).toBe(500)
    }
    const page = await rawRequest(port, { target: '/' })
    expect(page.status).toBe(200)
    expect(await stop(command)).toBe(0)
    expect(command.complaints()).toBe(
      `serve-dist: ${join(folder, 'app.js')}: changed since the server read it. After each build, restart or reload the server\n`,
    )
  })
})

describe.skipIf(process.platform === 'win32')('a signal', () => {
  let built: string
  beforeAll(async () => {
    built = await buildFixture({ 'index.html': 'page', 'large.bin': large })
  })

  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s lets responses in progress finish, and ends with exit code 0',
    async (signal) => {
      const { child, exited, listening } = spawnCommand([built, '--port', '0', '--memory-budget', '1k'])
      const { port } = await listening
      const idle = await openConnection(port)
      idle.send(formatRequest({}))
      await idle.receive()
      const socket = connect({ port, host: '127.0.0.1' })
      socket.write(formatRequest({ target: '/large.bin' }))
      await once(socket, 'readable')
      child.kill(signal)
      expect(await idle.rest()).toHaveLength(0)
      const received = await buffer(socket)
      expect(received.subarray(-large.length).equals(large)).toBe(true)
      const { code, stderr } = await exited
      expect([code, stderr]).toEqual([0, ''])
    },
  )

  test.each([
    ['SIGTERM', 'SIGTERM'],
    ['SIGINT', 'SIGINT'],
    ['SIGTERM', 'SIGINT'],
  ] as const)('%s, then %s ends at once, with exit code 1', async (first, second) => {
    const { child, exited, listening } = spawnCommand([built, '--port', '0'])
    const { port } = await listening
    const idle = await openConnection(port)
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('error', () => {
      // The connection is cut off in mid-body.
    })
    socket.write(formatRequest({ target: '/large.bin' }))
    await once(socket, 'readable')
    child.kill(first)
    // The idle connection closes when the first signal arrives.
    await idle.rest()
    child.kill(second)
    const { code } = await exited
    expect(code).toBe(1)
    socket.destroy()
  })
})

describe('serve-dist compress', () => {
  test('compresses a folder, prints a summary, and leaves a folder that can be served', async () => {
    const folder = await writeFixture(files)
    const { code, stdout, stderr } = await spawnCommand(['compress', folder]).exited
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain('app.js')
    for (const path of [manifestPath, 'app.js.zst', 'app.js.br', 'app.js.gz']) {
      expect([path, existsSync(join(folder, path))]).toEqual([path, true])
    }
    const command = spawnCommand([folder, '--port', '0'])
    const { port } = await command.listening
    const response = await rawRequest(port, { target: '/app.js', fields: { 'Accept-Encoding': 'br' } })
    expect(response.field('Content-Encoding')).toBe('br')
    await stop(command)
  })

  test('accepts a base, an application type and excluded files', async () => {
    const folder = await writeFixture({ ...files, 'notes.txt': 'private', 'old.txt': 'old' })
    const excluded = ['--exclude', 'notes.txt', '--exclude', 'old.txt']
    const args = ['compress', '--base', '/docs/', '--app-type', 'mpa', ...excluded, folder]
    const { code } = await spawnCommand(args).exited
    expect(code).toBe(0)
    const command = spawnCommand([folder, '--port', '0'])
    const { url, port } = await command.listening
    expect(new URL(url).pathname).toBe('/docs/')
    for (const target of ['/docs/notes.txt', '/docs/old.txt'])
      expect((await rawRequest(port, { target })).status).toBe(404)
    await stop(command)
  })

  test('caches results for the next run', async () => {
    const root = await writeFixture({ 'package.json': '{}', 'dist/app.js': files['app.js'] })
    const entries = async (): Promise<number> =>
      (await readdir(join(root, 'node_modules/.cache/serve-dist/entries-1'), { recursive: true })).filter(
        (name) => name.length > 60,
      ).length
    expect((await spawnCommand(['compress', join(root, 'dist')]).exited).code).toBe(0)
    expect(await entries()).toBe(1)
  })

  test('rejects a folder without files, and does not change it', async () => {
    const folder = await temporaryDirectory()
    const { code, stdout, stderr } = await spawnCommand(['compress', folder]).exited
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      `serve-dist: SD_BUILD_NOT_FOUND: ${folder}: the folder has no files to serve. Build first, or name the folder of the build.\n`,
    ])
    expect(await readdir(folder)).toEqual([])
  })

  test('rejects a missing folder: exit code 1 and no stack trace', async () => {
    const missing = join(await temporaryDirectory(), 'dist')
    const { code, stdout, stderr } = await spawnCommand(['compress', missing]).exited
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(missing)
    expect(stderr).not.toMatch(/^\s+at /m)
  })
})
