import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { precompress } from '@serve-dist/precompress'
import { expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { freePort } from '../support/free-port.ts'
import { rawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const document = readFileSync(new URL('../../../../docs/operating.md', import.meta.url), 'utf8')
const [, script = ''] = /^```sh\n(#!\/bin\/sh\n.*?)^```$/ms.exec(document) ?? []

test.skipIf(process.platform === 'win32').each([
  ['one process', []],
  ['two workers', ['--workers', '2']],
])('reports the result, %s', async (_what, flags) => {
  const file = join(await temporaryDirectory(), 'reload.sh')
  await writeFile(file, script)
  const directory = await buildFixture({ 'index.html': 'first' })
  const ops = `127.0.0.1:${await freePort()}`
  const { child, exited, listening } = spawnCommand([directory, ...flags, '--port', '0', '--ops', ops])
  const { port } = await listening
  const reload = (): Promise<Outcome> => run('/bin/sh', [file, String(child.pid), `http://${ops}`])

  await writeFile(join(directory, 'index.html'), 'second')
  await precompress(directory)
  expect(await reload()).toEqual({ code: 0, stdout: 'swapped\n', stderr: '' })
  expect((await rawRequest(port)).body.toString()).toBe('second')
  expect(await reload()).toEqual({ code: 0, stdout: 'unchanged\n', stderr: '' })
  await truncate(join(directory, 'index.html'), 2)
  expect(await reload()).toEqual({
    code: 1,
    stdout: expect.stringMatching(
      /^refused\n.*\n {2}Deploy .*\n {2}index\.html: has 2 bytes, the manifest says 6\n$/,
    ),
    stderr: '',
  })
  expect((await rawRequest(port)).body.toString()).toBe('second')

  child.kill('SIGTERM')
  expect((await exited).code).toBe(0)
  expect(await reload()).toEqual({ code: 7, stdout: '', stderr: expect.stringMatching(/^curl: \(7\) .*\n$/) })
})

interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

async function run(program: string, args: readonly string[]): Promise<Outcome> {
  return await new Promise((resolve) => {
    const child = execFile(program, args, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode, stdout, stderr })
    })
  })
}
