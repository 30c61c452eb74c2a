import path from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { npxCommand } from '../../scripts/npm-command.mjs'
import { sendRequest } from '../src/send-request.ts'
import { runToEnd, startCommand } from '../src/start-command.ts'

const { project } = inject('packedSpa')

describe('npx serve-dist', () => {
  test('prints its version and its help', async () => {
    const command = npxCommand('--no-install', 'serve-dist')
    expect(await runToEnd(command, { args: ['--version'], cwd: project })).toMatchObject({
      exitCode: 0,
      output: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    })
    const short = await runToEnd(command, { args: ['--help'], cwd: project })
    expect(short.exitCode).toBe(0)
    for (const option of ['--port', '--host', 'compress']) expect(short.output).toContain(option)
    const help = await runToEnd(command, { args: ['--help', 'all'], cwd: project })
    expect(help.exitCode).toBe(0)
    for (const option of ['--port', '--host', '--verify', 'PORT', 'HOST', 'compress']) {
      expect(help.output).toContain(option)
    }
  })

  // npx forwards no SIGTERM, so the test starts its program directly.
  test.skipIf(process.platform === 'win32')('serves dist in the current folder', async () => {
    const program = path.join(project, 'node_modules/.bin/serve-dist')
    const server = await startCommand([program], { args: ['--port', '0'], cwd: project })
    expect((await sendRequest(server.url)).status).toBe(200)
    expect(await server.stop()).toMatchObject({ exitCode: 0, errors: '' })
  })
})
