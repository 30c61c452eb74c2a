import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { buildExample } from './build-example.ts'
import { sendRequest } from './send-request.ts'
import { startCommand } from './start-command.ts'

const examples = fileURLToPath(new URL('../../examples', import.meta.url))

/** The expected responses of every example that serves its build and an API. */
export const expectedHostAnswers: Readonly<Record<string, unknown>> = {
  page: { status: 200, type: 'text/html; charset=utf-8' },
  asset: {
    status: 200,
    cacheControl: 'public, max-age=31536000, immutable',
    etag: expect.stringMatching(/^"/),
  },
  again: 304,
  api: { time: expect.any(Number) },
  unknown: 404,
}

/** Builds an example and starts its server. Returns its responses. */
export async function requestHostExample(
  name: string,
  program: string,
  args: readonly string[],
): Promise<Record<string, unknown>> {
  const project = path.join(examples, name)
  await buildExample(name, project)
  const running = await startCommand([program], { args, cwd: project, environment: { PORT: '0' } })
  try {
    const page = await sendRequest(running.url)
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page.body.toString())?.[1] ?? ''
    const asset = await sendRequest(new URL(script, running.url))
    const { etag = '', 'cache-control': cacheControl } = asset.headers
    const again = await sendRequest(new URL(script, running.url), { headers: { 'if-none-match': etag } })
    const api: unknown = JSON.parse((await sendRequest(new URL('api/time', running.url))).body.toString())
    const unknown = await sendRequest(new URL('unknown.js', running.url))
    return {
      page: { status: page.status, type: page.headers['content-type'] },
      asset: { status: asset.status, cacheControl, etag },
      again: again.status,
      api,
      unknown: unknown.status,
    }
  } finally {
    await running.stop()
  }
}
