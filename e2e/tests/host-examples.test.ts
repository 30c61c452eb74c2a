import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { buildExample } from '../src/build-example.ts'
import { sendRequest } from '../src/send-request.ts'
import { startProgram } from '../src/start-program.ts'

const examples = fileURLToPath(new URL('../../examples', import.meta.url))
const { platform, arch } = process
const bunTarget = `${platform}-${arch === 'arm64' ? 'aarch64' : 'x64'}`
const denoTarget = `${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`
const permissions = ['--allow-net', '--allow-read', '--allow-env', '--allow-sys=cpus']

/** How each example is started: by a binary, of Bun and Deno that of their packages. */
const hosts: readonly (readonly [string, string | undefined, readonly string[]])[] = [
  ['express', process.execPath, ['server.js']],
  ['fastify', process.execPath, ['server.js']],
  ['hono', process.execPath, ['server.js']],
  ['bun', findBinary('bun', `@oven/bun-${bunTarget}/bin/bun`), ['server.js']],
  ['deno', findBinary('deno', `@deno/${denoTarget}/deno`), ['run', ...permissions, 'server.js']],
  ['preview', process.execPath, ['node_modules/vite/bin/vite.js', 'preview']],
]

describe.each(hosts)('examples/%s', (name, program, args) => {
  test.skipIf(program === undefined && process.env['CI'] === undefined)(
    'serves its build, and its API beside it',
    async () => {
      const project = path.join(examples, name)
      await buildExample(name, project)
      const running = await startProgram(program ?? name, args, project)
      try {
        const page = await sendRequest(running.url)
        const script = /src="(\/assets\/[^"]+\.js)"/.exec(page.body.toString())?.[1] ?? ''
        expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
        const asset = await sendRequest(new URL(script, running.url))
        expect(asset).toMatchObject({
          status: 200,
          headers: {
            'cache-control': 'public, max-age=31536000, immutable',
            etag: expect.stringMatching(/^"/),
          },
        })
        const again = await sendRequest(new URL(script, running.url), {
          headers: { 'if-none-match': asset.headers.etag ?? '' },
        })
        expect(again.status).toBe(304)
        const api = await sendRequest(new URL('api/time', running.url))
        expect(JSON.parse(api.body.toString())).toEqual({ time: expect.any(Number) })
        const unknown = await sendRequest(new URL('unknown.js', running.url))
        expect(unknown.status).toBe(404)
      } finally {
        await running.stop()
      }
    },
  )
})

/** The binary of a package that an example has installed; its own command would need an install script. */
function findBinary(name: string, binary: string): string | undefined {
  try {
    const ofExample = createRequire(path.join(examples, name, 'package.json'))
    return createRequire(ofExample.resolve(`${name}/package.json`)).resolve(binary)
  } catch {
    return undefined
  }
}
