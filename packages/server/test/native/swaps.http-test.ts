import { loadEngine } from '@serve-dist/engine'
import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { manifestPath, parseManifest } from '@serve-dist/manifest'
import { describe, expect, test, vi } from 'vitest'
import { entityTagOf } from '../../src/protocol/entity-tag.ts'
import { buildFixture, type FixtureFiles } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { replaceBuildIn } from '../support/replace-build-in.ts'
import { openConnection } from '../support/open-connection.ts'
import type { RawResponse } from '../support/parse-response.ts'
import { formatRequest } from '../support/raw-request.ts'
import { createRandom, type Random } from '../support/soak/soak-random.ts'
import { startServer } from '../support/start-server.ts'

const swaps = 12
const clients = 6
const codings = ['zstd, br, gzip', 'br', 'gzip', 'identity'] as const
const paths = ['app.js', 'style.css', 'film.bin', 'small.txt'] as const

/** The files of a build. Some exist only in some builds, so the order of the table changes. */
function filesOf(build: number): FixtureFiles {
  const others = Array.from({ length: (build * 7) % 23 }, (_file, index) => [
    `a${index}.txt`,
    `${build} ${index}`,
  ])
  return {
    ...Object.fromEntries(others),
    'app.js': compressibleText(3000, `build${build}`),
    'style.css': compressibleText(9000, `build${build}`),
    'small.txt': `build ${build}`,
    // Sending this file takes several writes.
    'film.bin': randomBytes(400_000),
  }
}

/** The content that an entity tag identifies. */
interface Promised {
  readonly build: number
  readonly path: string
  readonly coding: string
}

interface Asked {
  readonly path: string
  readonly method: string
  readonly fields: Readonly<Record<string, string>>
}

describe.skipIf(typeof loadEngine() === 'string')('swaps under load', () => {
  test('never mix responses of two builds, and never return to an older one', async () => {
    const directory = await buildFixture(filesOf(0))
    const known = new Map<string, Promised>()
    let newest = -1
    let served = 0
    const noteBuild = async (): Promise<void> => {
      const manifest = parseManifest(await readFile(join(directory, manifestPath), 'utf8'))
      newest += 1
      for (const { path, sha256, variants } of manifest.files) {
        for (const { coding, sha256: of } of [{ coding: 'identity', sha256 }, ...variants]) {
          known.set(`${path} ${entityTagOf(of)}`, { build: newest, path, coding })
        }
      }
    }
    await noteBuild()
    const server = await startServer(directory, { engine: 'native' })
    const failures: string[] = []
    const counts = { whole: 0, heads: 0, notModified: 0 }

    const check = ({ path, method, fields }: Asked, response: RawResponse, oldest: number): void => {
      const tag = response.field('ETag') ?? ''
      const promised = known.get(`${path} ${tag}`)
      const isWhole = response.status === 200 && method === 'GET'
      const isOfBuild =
        promised !== undefined &&
        promised.build >= oldest &&
        promised.build <= newest &&
        (response.status === 304 || (response.field('Content-Encoding') ?? 'identity') === promised.coding)
      const isOfBody =
        !isWhole || tag === entityTagOf(createHash('sha256').update(response.body).digest('hex'))
      const isAsked = response.status === 200 || (response.status === 304 && fields['If-None-Match'] === tag)
      counts[response.status === 304 ? 'notModified' : isWhole ? 'whole' : 'heads'] += 1
      if (isOfBuild && isOfBody && isAsked) return
      failures.push(
        `${method} ${path}: ${response.status} ${tag}: ${JSON.stringify(promised)}, ${oldest} to ${newest}`,
      )
    }

    const over = new AbortController()
    const client = async (random: Random): Promise<void> => {
      const connection = await openConnection(server.port)
      let tag = ''
      while (!over.signal.aborted) {
        const oldest = served
        const asked = Array.from({ length: 1 + random.integer(12) }, () => ({
          path: random.pick(paths),
          method: random.chance(0.1) ? 'HEAD' : 'GET',
          fields: {
            'Accept-Encoding': random.pick(codings),
            ...(random.chance(0.3) && { 'If-None-Match': tag }),
          },
        }))
        connection.send(asked.map((each) => formatRequest({ ...each, target: `/${each.path}` })).join(''))
        // A client that reads late may get responses of a build that was replaced.
        if (random.chance(0.3)) connection.socket.pause()
        await setImmediate()
        connection.socket.resume()
        for (const each of asked) {
          const response = await connection.receive(each.method)
          check(each, response, oldest)
          tag = response.field('ETag') ?? tag
        }
      }
      connection.socket.destroy()
    }
    const working = Promise.all(
      Array.from({ length: clients }, (_client, index) => client(createRandom(index))),
    )
    for (let build = 1; build <= swaps; build += 1) {
      await replaceBuildIn(directory, filesOf(build))
      await noteBuild()
      expect(await server.reload()).toMatchObject({ status: 'swapped' })
      served = build
    }
    // On a slow machine, the swaps may end before so many requests.
    await vi.waitUntil(() => counts.whole > 2000 && counts.notModified > 50, 60_000)
    over.abort()
    await working
    console.log(`${swaps} swaps under ${JSON.stringify(counts)}`)
    expect(failures).toEqual([])
    expect(counts.whole).toBeGreaterThan(2000)
    expect(counts.notModified).toBeGreaterThan(50)
  })
})
