import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RuntimeEnvironment } from '@serve-dist/manifest'
import { environmentDefaults, environmentModule } from '@serve-dist/manifest'
import { precompress } from '@serve-dist/precompress'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { requestTwice } from '../support/request-twice.ts'
import { startServer } from '../support/start-server.ts'
import { readValues } from './read-values.ts'

const environment: RuntimeEnvironment = {
  path: 'serve-dist-env.js',
  prefix: 'APP_',
  variables: {
    API_URL: { type: 'string', required: true },
    LIMIT: { type: 'number', default: 10 },
    FLAGS: { type: 'json' },
  },
}
const target = '/serve-dist-env.js'
const set = { APP_API_URL: 'https://api.example', APP_LIMIT: '3', APP_OTHER: 'never', API_URL: 'never' }

async function build(files: Record<string, string> = {}, more = environment): Promise<string> {
  const module = environmentModule(environmentDefaults(more))
  return await buildFixture({ 'index.html': 'page', [more.path]: module, ...files }, { environment: more })
}

async function tagOf(url: string): Promise<string | undefined> {
  const { port } = await startServer(directory, { site: { environment: { APP_API_URL: url } } })
  return (await requestTwice(port, { target })).field('ETag')
}

let directory: string
beforeAll(async () => {
  directory = await build()
})

describe('the module of the environment', () => {
  test('contains the declared values of the process, and no others', async () => {
    const { port } = await startServer(directory, { site: { environment: set } })
    const { status, body } = await requestTwice(port, { target })
    expect([status, await readValues(body.toString())]).toEqual([
      200,
      { API_URL: 'https://api.example', LIMIT: 3 },
    ])
    expect(body.toString()).not.toContain('never')
  })

  test('is revalidated each time, and has one coding and no date', async () => {
    const { port } = await startServer(directory, { site: { environment: set } })
    const fields = { 'Accept-Encoding': 'zstd, br, gzip' }
    const response = await requestTwice(port, { target, fields })
    const names = ['Content-Type', 'Cache-Control', 'Last-Modified', 'Vary', 'Content-Encoding']
    expect(names.map((name) => response.field(name))).toEqual([
      'text/javascript; charset=utf-8',
      'no-cache',
      undefined,
      undefined,
      undefined,
    ])
    const etag = response.field('ETag') ?? ''
    expect(etag).toMatch(/^"[^"]+"$/)
    const again = await requestTwice(port, { target, fields: { ...fields, 'If-None-Match': etag } })
    expect([again.status, again.field('Cache-Control'), again.field('ETag')]).toEqual([304, 'no-cache', etag])
    const part = await requestTwice(port, { target, fields: { Range: 'bytes=0-5' } })
    expect([part.status, part.body.toString()]).toEqual([206, 'export'])
    const head = await requestTwice(port, { target, method: 'HEAD' })
    expect(head.field('Content-Length')).toBe(response.field('Content-Length'))
  })

  test('has an ETag that depends on its values', async () => {
    expect(await tagOf('a')).toBe(await tagOf('a'))
    expect(await tagOf('a')).not.toBe(await tagOf('b'))
  })

  test('is never cached, even if a rule sets Cache-Control, but gets other fields of rules', async () => {
    const folder = await build({ _headers: '/*\n  Cache-Control: max-age=60\n  X-Own: yes\n' })
    const { port } = await startServer(folder, {
      site: {
        environment: set,
        rules: {
          immutable: ['**'],
          cacheControl: { '**': 'max-age=61' },
          headers: {
            '**': { 'cache-control': 'max-age=62', 'CDN-Cache-Control': 'max-age=63', Expires: '0' },
          },
          cors: ['**'],
        },
      },
    })
    const response = await requestTwice(port, { target })
    expect(
      ['Cache-Control', 'CDN-Cache-Control', 'Expires', 'X-Own', 'Access-Control-Allow-Origin'].map((name) =>
        response.field(name),
      ),
    ).toEqual(['no-cache', undefined, undefined, 'yes', '*'])
  })

  test('is generated although its file was changed (with a warning) or deleted', async () => {
    const folder = await build()
    const warnings: string[] = []
    const site = {
      environment: set,
      verify: 'hash',
      onWarning: (text: string) => warnings.push(text),
    } as const
    const ask = async (): Promise<unknown> => {
      const { port } = await startServer(folder, { site })
      return await readValues((await requestTwice(port, { target })).body.toString())
    }
    const expected = { API_URL: 'https://api.example', LIMIT: 3 }
    expect([await ask(), warnings]).toEqual([expected, []])
    await writeFile(join(folder, environment.path), 'export default { API_URL: "from sed" }')
    expect(await ask()).toEqual(expected)
    expect(warnings).toEqual([
      'serve-dist-env.js: the file was changed after the build. The change has no effect, because the server generates this file from its environment.',
    ])
    await rm(join(folder, environment.path))
    expect([await ask(), warnings.length]).toEqual([expected, 1])
    await precompress(folder, { environment })
    expect(await ask()).toEqual(expected)
  })

  test('stops the start for invalid values: it lists all problems, without the values', async () => {
    const folder = await build({ 'app.js': 'script' })
    await rm(join(folder, 'app.js'))
    const given = { APP_LIMIT: 'ten-secret', APP_FLAGS: '{secret' }
    const refusal = await startServer(folder, { site: { environment: given } }).catch(
      (error: unknown) => error,
    )
    expect(refusal).toMatchObject({
      code: 'SD_MANIFEST_MISMATCH',
      problems: [
        expect.stringContaining('1 file differs from the manifest'),
        expect.anything(),
        expect.stringContaining('app.js: is missing'),
        'APP_API_URL: the build requires this environment variable, and it is not set',
        'APP_LIMIT: expected a number such as 10 or 0.5',
        'APP_FLAGS: expected JSON',
      ],
    })
    const alone = await startServer(directory, { site: { environment: given } }).catch(
      (error: unknown) => error,
    )
    expect(alone).toMatchObject({ code: 'SD_ENVIRONMENT_INVALID' })
    for (const first of [refusal, alone]) {
      for (let error = first; error instanceof Error; error = error.cause) {
        expect(String(error.stack)).not.toContain('secret')
      }
    }
  })

  test('rejects an invalid text, and JSON of 100,000 levels', async () => {
    const flags = '['.repeat(100_000) + ']'.repeat(100_000)
    const given: Record<string, string> = JSON.parse(
      JSON.stringify({ APP_API_URL: 'a', APP_FLAGS: flags, APP_LIMIT: 3 }),
    )
    await expect(startServer(directory, { site: { environment: given } })).rejects.toMatchObject({
      problems: [
        'APP_LIMIT: expected a string',
        'APP_FLAGS: expected JSON of at most 1000 levels and of finite numbers',
      ],
    })
  })
})
