import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RuntimeEnvironment } from '@serve-dist/manifest'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { readChildProcessId } from '../support/read-child-process-ids.ts'
import { freePort } from '../support/free-port.ts'
import { rawRequest } from '../support/raw-request.ts'
import { replaceWorker } from '../support/replace-worker.ts'
import { type RunningCommand, spawnCommand } from '../support/spawn-command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { twoProcessFlags } from '../support/two-process-flags.ts'
import { readValues } from './read-values.ts'

const environment: RuntimeEnvironment = {
  path: 'serve-dist-env.js',
  prefix: '',
  variables: {
    API_URL: { type: 'string', required: true },
    LIMIT: { type: 'number', default: 10 },
    FLAGS: { type: 'json' },
  },
}
const files = { 'index.html': 'page', [environment.path]: 'export default {}' }
/** Starting Node is slow on a busy machine. */
const patience = { timeout: 20_000, interval: 100 }
const alone = ['--port', '0']
const two = [...alone, '--workers', '2']

let directory: string
let processes: readonly string[]
beforeAll(async () => {
  directory = await buildFixture(files, { environment })
  processes = await twoProcessFlags()
})

async function writeEnvFile(text: string): Promise<string> {
  const file = join(await temporaryDirectory(), 'stage.env')
  await writeFile(file, text)
  return file
}

async function stop({ child, exited }: RunningCommand): Promise<string> {
  child.kill('SIGTERM')
  return (await exited).stderr
}

/** Returns the distinct values that 16 new connections get. With workers, they reach all of them. */
async function valuesOf(port: number): Promise<unknown[]> {
  const texts = await Promise.all(
    Array.from({ length: 16 }, async () =>
      (await rawRequest(port, { target: '/serve-dist-env.js' })).body.toString(),
    ),
  )
  return await Promise.all([...new Set(texts)].map(readValues))
}

describe('--env-file', () => {
  test('sets only variables that the environment lacks', async () => {
    const file = await writeEnvFile('API_URL=https://file.example\nLIMIT=5\nFLAGS={"a":[1]}\nSECRET=x\n')
    const command = spawnCommand([directory, ...alone, '--env-file', file], { env: { LIMIT: '7' } })
    const { port } = await command.listening
    expect(await valuesOf(port)).toEqual([{ API_URL: 'https://file.example', LIMIT: 7, FLAGS: { a: [1] } }])
    expect(await stop(command)).toBe('')
  })

  test.each([
    // Node 20 reads the flag first, and ends with a message of its own.
    ['is missing', undefined, /nowhere\.env/],
    ['is not UTF-8', Buffer.from('A=b\nAPI_URL=\xFFsecret\n', 'latin1'), /line 2 is not UTF-8/],
    ['is a folder', null, /is not a regular file|invalid format/],
  ])('stops a start if the file %s', async (_what, content, problem) => {
    const folder = await temporaryDirectory()
    const file = content === null ? folder : join(folder, 'nowhere.env')
    if (content) await writeFile(file, content)
    const { code, stdout, stderr } = await spawnCommand([directory, ...alone, '--env-file', file]).exited
    expect([code === 0, stdout]).toEqual([false, ''])
    expect(stderr).toMatch(problem)
    expect(stderr).not.toContain('secret')
  })

  test('sets variables of the application that its environment lacks', async () => {
    const module = join(await temporaryDirectory(), 'app.mjs')
    await writeFile(
      module,
      'export default (_, response) => response.end(JSON.stringify([process.env.DB_URL, process.env.LIMIT]))',
    )
    const file = await writeEnvFile('API_URL=one\nDB_URL=db\nLIMIT=5\n')
    const command = spawnCommand([directory, ...alone, '--env-file', file, '--ssr', module], {
      env: { LIMIT: '7' },
    })
    const { port } = await command.listening
    expect((await rawRequest(port, { target: '/api' })).body.toString()).toBe('["db","7"]')
    await writeFile(file, 'API_URL=two\n')
    command.child.kill('SIGHUP')
    await vi.waitFor(
      async () => expect(await valuesOf(port)).toEqual([{ API_URL: 'two', LIMIT: 7 }]),
      patience,
    )
    await stop(command)
  })

  test("is read again by --watch, also if a ConfigMap's link changes", async () => {
    const mounted = await temporaryDirectory()
    for (const [name, text] of [
      ['one', 'API_URL=one\n'],
      ['two', 'API_URL=two\n'],
    ] as const) {
      await writeFile(join(mounted, name), text)
    }
    const file = join(mounted, 'stage.env')
    await symlink('one', file)
    const command = spawnCommand([directory, ...alone, '--watch', '--env-file', file])
    const { port } = await command.listening
    expect(await valuesOf(port)).toEqual([{ API_URL: 'one', LIMIT: 10 }])
    await symlink('two', join(mounted, 'next'))
    await rename(join(mounted, 'next'), file)
    await vi.waitFor(
      async () => expect(await valuesOf(port)).toEqual([{ API_URL: 'two', LIMIT: 10 }]),
      patience,
    )
    await writeFile(join(mounted, 'two'), 'LIMIT=secret\n')
    await vi.waitFor(() => expect(command.complaints()).toContain('refused, still serving'), patience)
    expect(await valuesOf(port)).toEqual([{ API_URL: 'two', LIMIT: 10 }])
    await rm(file)
    await vi.waitFor(() => expect(command.complaints()).toContain('no such file'), patience)
    await writeFile(file, 'API_URL=three\n')
    await vi.waitFor(
      async () => expect(await valuesOf(port)).toEqual([{ API_URL: 'three', LIMIT: 10 }]),
      patience,
    )
    const complaints = await stop(command)
    expect(complaints).toMatch(/now serving build \w+ with new environment values\n/)
    expect(complaints).not.toContain('secret')
  })
})

describe('a start', () => {
  test.each([alone, two])('reports all missing values once, and does not listen: %j', async (...args) => {
    const around = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`AROUND_${index}`, 'around']),
    )
    const env = { ...around, LIMIT: 'secret', FLAGS: '{secret' }
    const { code, stdout, stderr } = await spawnCommand([directory, ...args], { env }).exited
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      `serve-dist: SD_ENVIRONMENT_INVALID: ${[
        'API_URL: the build requires this environment variable, and it is not set',
        'LIMIT: expected a number such as 10 or 0.5',
        'FLAGS: expected JSON',
        'set the variables in the environment of the server, or in a file: serve-dist --env-file <file> (.env is not loaded automatically)',
        'correct the values in the environment of the server, or in the file of --env-file',
      ].join('\n')}\n`,
    ])
  })

  test('ignores 10,000 other variables', async () => {
    const around = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`AROUND_${index}`, 'around']),
    )
    const command = spawnCommand([directory, ...alone], { env: { ...around, API_URL: 'a' } })
    const { port } = await command.listening
    const { body } = await rawRequest(port, { target: '/serve-dist-env.js' })
    expect(body.toString()).not.toContain('round')
    expect(await stop(command)).toBe('')
  })

  test.skipIf(process.platform !== 'linux').each([alone, two])(
    'rejects bytes that are not UTF-8, and accepts a real U+FFFD: %j',
    async (...args) => {
      const bin = fileURLToPath(new URL('../../bin/serve-dist.js', import.meta.url))
      const run = async (bytes: string): Promise<string> => {
        const script = `API_URL="$(printf '${bytes}')" exec "$@"`
        const child = spawn('/bin/sh', ['-c', script, 'sh', process.execPath, bin, directory, ...args])
        let said = ''
        for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += String(text)))
        const exited = once(child, 'close')
        await vi.waitFor(() => expect(said).toContain('\n'), patience)
        child.kill('SIGTERM')
        await exited
        return said
      }
      expect(await run('secret\\377')).toMatch(
        /^serve-dist: SD_ENVIRONMENT_INVALID: API_URL: its bytes are not UTF-8\ncorrect the values .+\n$/,
      )
      expect(await run('a\\357\\277\\275')).toMatch(/http:\/\/127\.0\.0\.1/)
    },
  )
})

describe.skipIf(process.platform !== 'linux')('workers', () => {
  test('agree on new values after a reload and after a worker is replaced', async () => {
    const file = await writeEnvFile('API_URL=one\n')
    const opsPort = await freePort()
    const command = spawnCommand([
      directory,
      ...processes,
      '--env-file',
      file,
      '--ops',
      `127.0.0.1:${opsPort}`,
    ])
    const { port } = await command.listening
    const readiness = async (): Promise<unknown> =>
      JSON.parse((await rawRequest(opsPort, { target: '/readyz' })).body.toString())
    const before = await readiness()
    expect(before).toMatchObject({ environment: expect.stringMatching(/^[\da-f]{64}$/) })
    expect(await valuesOf(port)).toEqual([{ API_URL: 'one', LIMIT: 10 }])

    await writeFile(file, 'API_URL=two\n')
    command.child.kill('SIGHUP')
    await vi.waitFor(
      async () => expect(await readiness()).toMatchObject({ reload: { outcome: 'swapped' } }),
      patience,
    )
    expect(await valuesOf(port)).toEqual([{ API_URL: 'two', LIMIT: 10 }])
    expect(await readiness()).not.toMatchObject({ environment: Object(before).environment })
    expect(await readiness()).toMatchObject({ buildId: Object(before).buildId })

    await writeFile(file, 'API_URL=three\n')
    await replaceWorker(command.child.pid)
    await vi.waitFor(
      async () => expect(await valuesOf(port)).toEqual([{ API_URL: 'three', LIMIT: 10 }]),
      patience,
    )
    await vi.waitFor(
      () => expect(command.complaints()).toContain('the environment has other values: all workers load them'),
      patience,
    )

    await writeFile(file, 'LIMIT=11\n')
    command.child.kill('SIGHUP')
    await vi.waitFor(async () => {
      expect(await readiness()).toMatchObject({
        reload: {
          outcome: 'refused',
          problems: ['API_URL: the build requires this environment variable, and it is not set'],
        },
      })
    }, patience)
    expect(await valuesOf(port)).toEqual([{ API_URL: 'three', LIMIT: 10 }])
    const { body } = await rawRequest(opsPort, { target: '/metrics' })
    expect(body.toString()).toMatch(/serve_dist_build_info\{build_id="\w+",environment="[\da-f]{64}"\} 1\n/)
    await stop(command)
  })

  test('agree if an application changes its environment', async () => {
    const module = join(await temporaryDirectory(), 'app.mjs')
    await writeFile(
      module,
      `process.env.LIMIT = '99'
      export default (_, response) => response.end(process.env.LIMIT)`,
    )
    const command = spawnCommand([directory, ...two, '--ssr', module], { env: { API_URL: 'a' } })
    const { port } = await command.listening
    command.child.kill('SIGHUP')
    await vi.waitFor(
      () => expect(command.complaints()).toMatch(/build \w+ is already being served\n/),
      patience,
    )
    await replaceWorker(command.child.pid)
    expect(await valuesOf(port)).toEqual([{ API_URL: 'a', LIMIT: 10 }])
    expect((await rawRequest(port, { target: '/api' })).body.toString()).toBe('99')
    expect(await stop(command)).not.toContain('other values')
  })

  test('keep serving if one is killed while the file is invalid', async () => {
    const file = await writeEnvFile('API_URL=one\n')
    const command = spawnCommand([directory, ...processes, '--env-file', file])
    const { port } = await command.listening
    await writeFile(file, 'LIMIT=secret\n')
    process.kill(await readChildProcessId(command.child.pid), 'SIGKILL')
    await vi.waitFor(() => expect(command.complaints()).toContain('SD_ENVIRONMENT_INVALID'), patience)
    expect(await valuesOf(port)).toEqual([{ API_URL: 'one', LIMIT: 10 }])
    await writeFile(file, 'API_URL=two\n')
    await vi.waitFor(
      async () => expect(await valuesOf(port)).toEqual([{ API_URL: 'two', LIMIT: 10 }]),
      patience,
    )
    expect(await stop(command)).not.toContain('secret')
  })

  test('agree if the file changes while they load', async () => {
    const file = await writeEnvFile('API_URL=one\n')
    const marker = `${file}.read`
    // Worker 2 starts after worker 1 has loaded the build, and then changes the file.
    const fault = `
      import cluster from 'node:cluster'
      import fs from 'node:fs'
      const { send } = process
      if (cluster.worker?.id === 1) process.send = (message, ...rest) => {
        if (message.type === 'serve-dist:loaded') fs.writeFileSync(${JSON.stringify(marker)}, '')
        return send.call(process, message, ...rest)
      }
      if (cluster.worker?.id === 2) {
        const cell = new Int32Array(new SharedArrayBuffer(4))
        while (!fs.existsSync(${JSON.stringify(marker)})) Atomics.wait(cell, 0, 0, 10)
        fs.writeFileSync(${JSON.stringify(file)}, 'API_URL=two\\n')
      }`
    const command = spawnCommand([directory, ...processes, '--env-file', file], {
      nodeOptions: ['--import', `data:text/javascript,${encodeURIComponent(fault)}`],
    })
    const { port } = await command.listening
    expect(await valuesOf(port)).toEqual([{ API_URL: 'two', LIMIT: 10 }])
    expect(await stop(command)).toBe('serve-dist: the environment has other values: all workers load them\n')
  })
})
