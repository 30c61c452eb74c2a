import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { freePort } from '../../server/test/support/free-port.ts'
import type { StoreBackend } from '../src/backend.ts'
import { readHead, swapHistory } from '../src/history/swap-history.ts'
import { fetchBlob, openStore, publish, purge, readGeneration, readHistory } from '../src/index.ts'
import { currentKey, type History, layoutVersion } from '../src/layout.ts'
import { openS3Store } from '../src/s3/open-s3-store.ts'
import { makeVersion } from './support/make-builds.ts'
import { differences, faultsOf, keysIn, objectAt } from './support/read-store.ts'
import type { Fault, SeenRequest } from './support/start-fault-proxy.ts'
import { s3Environment, type S3Right, s3Settings, type S3User } from './support/start-s3.ts'
import { startFaultyS3 } from './support/start-faulty-s3.ts'
import { expectRefusal } from '../../server/test/support/expect-refusal.ts'

const faulty = await startFaultyS3()
afterEach(() => void vi.unstubAllEnvs())

const isSwap = ({ method, path }: SeenRequest): boolean => method === 'PUT' && path.endsWith(currentKey)

describe.runIf(faulty !== undefined)('a store in S3', () => {
  if (faulty === undefined) return
  const { s3, proxy } = faulty

  const open = async (bucket: string, user: S3User = s3.root): Promise<StoreBackend> =>
    await openS3Store(`s3://${bucket}/site`, s3Settings(proxy.endpoint, user))

  /** Applies the faults to the first requests of a method. Later requests succeed. */
  const failFirst = (method: string, ...faults: readonly Fault[]): void => {
    const left = [...faults]
    proxy.fail((seen) => (seen.method === method ? left.shift() : undefined))
  }

  const requestsOf = async (run: () => Promise<unknown>): Promise<readonly SeenRequest[]> => {
    const before = proxy.seen.length
    await run()
    return proxy.seen.slice(before)
  }

  describe.each<[string, Fault]>([
    ['503 SlowDown', { status: 503 }],
    ['429', { status: 429 }],
    ['500', { status: 500 }],
    ['a connection reset', { reset: 'before' }],
    ['a lost response', { reset: 'after' }],
  ])('after %s', (_what, fault) => {
    test('retries', async () => {
      const store = await open(await s3.bucket())
      failFirst('PUT', fault, fault)
      const written = await store.put('current.json', Buffer.from('text'))
      failFirst('GET', fault, fault)
      const object = await objectAt(store, 'current.json')
      expect(await text(object.body)).toBe('text')
      expect(written).toMatchObject({ version: object.version })
      failFirst('GET', fault)
      expect(await keysIn(store, '')).toEqual(['current.json'])
      failFirst('DELETE', fault)
      await store.delete('current.json')
      expect(await store.read('current.json')).toBeUndefined()
    })
  })

  describe('a swap of the history', () => {
    const next: History = { version: layoutVersion, history: [] }
    const swaps = { isSinglePublisher: false, lookFor: 0 }

    test('recognizes its own write after a lost response', async () => {
      const store = await open(await s3.bucket())
      const first = await swapHistory(store, await readHead(store), next, swaps)
      if (first === undefined) throw new Error('a conflict')
      failFirst('PUT', { reset: 'after' })
      const second = await swapHistory(store, first, next, swaps)
      if (second === undefined) throw new Error('a conflict')
      failFirst('PUT', { status: 500 })
      expect(await swapHistory(store, first, next, swaps)).toBeUndefined()
      expect(await swapHistory(store, second, next, swaps)).toBeDefined()
    })

    test('succeeds if all responses are lost but the history can be read', async () => {
      const store = await open(await s3.bucket())
      proxy.fail((seen) => (isSwap(seen) ? { reset: 'after' } : undefined))
      const build = await makeVersion(1)
      expect(await publish(build.directory, store)).toMatchObject({ id: build.id, wasCurrent: false })
      expect(await readHead(store)).toMatchObject({ history: { history: [{ id: build.id }] } })
    })

    test('recognizes its own write that runs after all attempts had no answer', async () => {
      const place = `s3://${await s3.bucket()}/site`
      const settings = { ...s3Settings(proxy.endpoint, s3.root), requestHandler: { socketTimeout: 300 } }
      const store = await openS3Store(place, settings)
      const [first, second] = await Promise.all([makeVersion(1), makeVersion(2)])
      await publish(first.directory, store)
      const held = new AbortController()
      const holds = once(held.signal, 'abort')
      let attempts = 0
      proxy.fail((seen) => {
        if (isSwap(seen)) {
          attempts += 1
          return { holds }
        }
        // The write runs after the first look.
        if (attempts > 0 && seen.path.endsWith(currentKey)) held.abort()
        return undefined
      })
      expect(await publish(second.directory, store)).toMatchObject({ id: second.id, replaced: first.id })
      expect(attempts).toBeGreaterThan(1)
      await proxy.settled()
      expect((await readHead(store)).history.history.map(({ id }) => id)).toEqual([second.id, first.id])
    })

    test('reports an open outcome if no attempt arrives', async () => {
      const store = await open(await s3.bucket())
      const before = await swapHistory(store, await readHead(store), next, swaps)
      proxy.fail((seen) => (isSwap(seen) ? { reset: 'before' } : undefined))
      await expectRefusal(
        publish((await makeVersion(1)).directory, store, { lookFor: 0 }),
        'SD_STORE_UNAVAILABLE',
        /^s3:\S+: cannot put current\.json \([^()]+\)\. This write had no answer and can still succeed.*serve-dist generations --store s3:\S+$/,
      )
      expect(await readHead(store)).toMatchObject({ version: before?.version })
    })

    test('reports an open outcome if all responses are lost and the history cannot be read', async () => {
      const store = await open(await s3.bucket())
      let isAway = false
      proxy.fail((seen) => {
        if (isAway && !isSwap(seen)) return { status: 400 }
        isAway ||= isSwap(seen)
        return isAway ? { reset: 'after' } : undefined
      })
      const build = await makeVersion(1)
      await expectRefusal(
        publish(build.directory, store),
        'SD_STORE_UNAVAILABLE',
        /cannot put current\.json .*\. This write had no answer and can still succeed.*serve-dist generations --store s3:\S+$/,
      )
      proxy.fail()
      expect(await readHead(store)).toMatchObject({ history: { history: [{ id: build.id }] } })
    })
  })

  test.each([true, false])(
    'a deletion that runs after its time limit does not affect later builds (answered retry: %s)',
    async (isRetried) => {
      const bucket = await s3.bucket()
      const settings = { ...s3Settings(proxy.endpoint, s3.root), requestHandler: { socketTimeout: 300 } }
      const store = await openS3Store(`s3://${bucket}/site`, settings)
      const [first, second] = await Promise.all([makeVersion(1), makeVersion(2)])
      for (const { directory } of [first, second]) await publish(directory, store)
      const held = new AbortController()
      const released = once(held.signal, 'abort')
      const seen = new Set<string>()
      proxy.fail(({ method, path }) => {
        if (method !== 'DELETE' || !path.includes('/blobs/') || (isRetried && seen.has(path)))
          return undefined
        seen.add(path)
        return { holds: released }
      })
      await purge(store, first.id).catch((error: unknown) => error)
      proxy.fail()
      await publish(first.directory, store)
      expect(await differences(store, first)).toEqual([])
      held.abort()
      await proxy.settled()
      expect(seen.size).toBeGreaterThan(2)
      expect(await faultsOf(store)).toEqual([])
      expect(await differences(store, first)).toEqual([])
    },
  )

  test.each<[string, readonly Fault[]]>([
    ['ends', [{ bytes: 100_000, ending: 'end' }]],
    ['is reset', [{ bytes: 0, ending: 'reset' }]],
    [
      'breaks off repeatedly',
      Array.from({ length: 12 }, (_, index) => ({
        bytes: 40_000,
        ending: index % 2 === 0 ? 'end' : 'reset',
      })),
    ],
  ])('continues reading if a body %s', async (_what, faults) => {
    const store = await open(await s3.bucket())
    const bytes = randomBytes(700_000)
    await store.put('blobs/large', bytes)
    failFirst('GET', ...faults)
    const object = await objectAt(store, 'blobs/large')
    expect(bytes.equals(await buffer(object.body))).toBe(true)
  })

  test('never mixes two versions of an object that is replaced during a read', async () => {
    const store = await open(await s3.bucket())
    await store.put('blobs/large', randomBytes(700_000))
    failFirst('GET', { bytes: 100_000, ending: 'reset' })
    const object = await objectAt(store, 'blobs/large')
    await store.put('blobs/large', randomBytes(700_000))
    await expect(buffer(object.body)).rejects.toThrow(/cannot read blobs\/large \(PreconditionFailed/)
  })

  test('fails after all attempts with the reason', async () => {
    const store = await open(await s3.bucket())
    proxy.fail(() => ({ status: 503 }))
    const requests = await requestsOf(async () => {
      await expectRefusal(
        store.read('current.json'),
        'SD_STORE_UNAVAILABLE',
        /^s3:.*: cannot read current\.json \(SlowDown: injected fault; HTTP 503\)$/,
      )
    })
    expect(requests).toHaveLength(7)
  })

  test('does not retry permanent errors', async () => {
    const store = await open(await s3.bucket())
    proxy.fail(() => ({ status: 400 }))
    const requests = await requestsOf(async () => {
      await expect(store.put('blobs/x', Buffer.from('x'))).rejects.toThrow(
        'cannot put blobs/x (InvalidRequest',
      )
    })
    expect(requests).toHaveLength(1)
  })

  test('reports an unreachable endpoint', async () => {
    const settings = s3Settings(`http://127.0.0.1:${await freePort()}`, s3.root)
    const store = await openS3Store('s3://site/prefix', settings)
    await expect(store.read('current.json')).rejects.toThrow(
      /cannot read current\.json \(connect ECONNREFUSED/,
    )
  })

  test('stops waiting when the signal aborts', async () => {
    const store = await open(await s3.bucket())
    proxy.fail(() => ({ status: 503 }))
    const signal = AbortSignal.timeout(150)
    const thrown: unknown = await store.read('current.json', { signal }).catch((error: unknown) => error)
    expect(thrown).toBe(signal.reason)
    proxy.fail(() => ({ latency: 5000 }))
    const other = AbortSignal.timeout(150)
    const put = store.put('blobs/x', Buffer.from('x'), { signal: other })
    expect(await put.catch((error: unknown) => error)).toBe(other.reason)
  })

  test('detects an endpoint without conditional writes, and deletes its probes', async () => {
    const store = await open(await s3.bucket())
    proxy.fail(() => ({ unconditional: true }))
    expect(await store.honoursConditions()).toBe(false)
    expect(await keysIn(store, '')).toEqual([])
  })

  test('deletes the probes of a killed process', async () => {
    const bucket = await s3.bucket()
    const store = await open(bucket)
    for (const name of ['old', 'new']) await store.put(`probes/${name}`, Buffer.from('probe'))
    await utimes(join(s3.folderOf(bucket), 'site/probes/old'), 0, 0)
    expect(await store.honoursConditions()).toBe(true)
    expect(await keysIn(store, '')).toEqual(['probes/new'])
  })

  test.each<[string, string]>([
    ['a page', '<!doctype html><title>Log in</title><p>Welcome'],
    ['a page that is XML', '<html><body>Welcome</body></html>'],
    ['nothing', ''],
  ])('rejects a server that answers 200 with %s to each request', async (_what, page) => {
    const store = await open(await s3.bucket())
    proxy.fail(() => ({ page }))
    const away = { code: 'SD_STORE_UNAVAILABLE' }
    await expect(store.read('current.json')).rejects.toMatchObject(away)
    await expect(store.put('blobs/x', Buffer.from('x'))).rejects.toMatchObject(away)
    await expect(store.honoursConditions()).rejects.toMatchObject(away)
    await expect(keysIn(store, '')).rejects.toMatchObject(away)
  })

  test('fails if a list never ends', async () => {
    const store = await open(await s3.bucket())
    const token = '<NextContinuationToken>again</NextContinuationToken>'
    proxy.fail(() => ({
      page: `<ListBucketResult><IsTruncated>true</IsTruncated>${token}</ListBucketResult>`,
    }))
    await expect(keysIn(store, '')).rejects.toThrow(
      'cannot list  (the list is incomplete: the endpoint sent no new continuation token)',
    )
  })

  test('stops waiting for a document or a blob when the signal aborts', async () => {
    const store = await open(await s3.bucket())
    await store.put('current.json', Buffer.from('text'))
    proxy.fail(() => ({ latency: 5000 }))
    const blob = { sha256: 'a'.repeat(64), size: 1 }
    for (const wait of [
      async (signal: AbortSignal) => await readHistory(store, undefined, { signal }),
      async (signal: AbortSignal) => await readGeneration(store, 'a'.repeat(32), { signal }),
      async (signal: AbortSignal) => await fetchBlob(store, blob, '/nowhere/blob', { signal }),
    ]) {
      const signal = AbortSignal.timeout(150)
      expect(await wait(signal).catch((error: unknown) => error)).toBe(signal.reason)
    }
  })

  test('reports a missing bucket', async () => {
    const store = await open('no-such-bucket')
    const expected = /\(NoSuchBucket: .*; HTTP 404; create the bucket, or check its name and the endpoint\)$/
    await expect(store.read('current.json')).rejects.toThrow(expected)
    await expect(store.put('blobs/x', Buffer.from('x'))).rejects.toThrow(expected)
  })

  test('lists several pages', async () => {
    const bucket = await s3.bucket()
    const store = await open(bucket)
    const folder = join(s3.folderOf(bucket), 'site/blobs')
    await mkdir(folder, { recursive: true })
    const keys = Array.from({ length: 1001 }, (_, index) => `blobs/${index}`)
    await Promise.all(keys.map(async (_, index) => await writeFile(join(folder, String(index)), 'x')))
    const requests = await requestsOf(async () => {
      expect(await keysIn(store, 'blobs/')).toEqual(keys.toSorted())
    })
    expect(requests).toHaveLength(2)
  })

  test("uses the server's clock if this machine's clock is wrong", async () => {
    const settings = { ...s3Settings(proxy.endpoint, s3.root), systemClockOffset: 2 * 60 * 60 * 1000 }
    const store = await openS3Store(`s3://${await s3.bucket()}`, settings)
    const written = await store.put('current.json', Buffer.from('text'))
    if (written === 'conflict') throw new Error('a conflict')
    expect(Math.abs(written.time - Date.now())).toBeLessThan(10_000)
  })

  test('reads the settings from the environment', async () => {
    for (const [name, value] of Object.entries(s3Environment(proxy.endpoint, s3.root)))
      vi.stubEnv(name, value)
    const store = await openStore(`s3://${await s3.bucket()}`)
    await store.put('current.json', Buffer.from('text'))
    for await (const { key, size } of store.list('')) expect([key, size]).toEqual(['current.json', 4])
  })

  describe('with the permission', () => {
    test('to read, treats missing objects as absent, and fails to list and write', async () => {
      const bucket = await s3.bucket()
      const reader = await s3.user()
      await s3.allow(bucket, [{ user: reader, actions: ['s3:GetObject'], on: '/*' }])
      await (await open(bucket)).put('current.json', Buffer.from('text'))
      const store = await open(bucket, reader)
      const object = await objectAt(store, 'current.json')
      expect(await text(object.body)).toBe('text')
      expect(await store.read('current.json', { unless: object.version })).toBe('unchanged')
      expect(await store.read('blobs/none')).toBeUndefined()
      await expect(keysIn(store, '')).rejects.toThrow(
        /cannot list .*AccessDenied.*grant the permissions .*\/deploys/,
      )
      await expect(store.put('blobs/x', Buffer.from('x'))).rejects.toThrow(
        /cannot put blobs\/x .*AccessDenied/,
      )
    })

    test('to list but not to read, reports the denied access', async () => {
      const bucket = await s3.bucket()
      const lister = await s3.user()
      await s3.allow(bucket, [{ user: lister, actions: ['s3:ListBucket'], on: '' }])
      await (await open(bucket)).put('current.json', Buffer.from('text'))
      const store = await open(bucket, lister)
      await expect(store.read('current.json')).rejects.toThrow(/cannot read current\.json .*AccessDenied/)
      expect(await store.read('blobs/none')).toBeUndefined()
    })

    test('in docs/deploys.md, can serve or publish', async () => {
      const [serving, publishing] = await documentedPolicies()
      const bucket = await s3.bucket()
      const [server, publisher] = [await s3.user(), await s3.user()]
      await s3.allow(bucket, [...rightsOf(serving, server), ...rightsOf(publishing, publisher)])
      const place = `s3://${bucket}/production`
      const store = await openS3Store(place, s3Settings(proxy.endpoint, publisher))
      expect(await store.honoursConditions()).toBe(true)
      await store.put('current.json', Buffer.from('text'), { replaces: null })
      expect(await keysIn(store, '')).toEqual(['current.json'])
      const served = await openS3Store(place, s3Settings(proxy.endpoint, server))
      expect(await served.read('current.json')).toMatchObject({ size: 4 })
      expect(await served.read('blobs/none')).toBeUndefined()
      await expect(served.put('current.json', Buffer.from('x'))).rejects.toThrow('AccessDenied')
      const elsewhere = await openS3Store(`s3://${bucket}/staging`, s3Settings(proxy.endpoint, publisher))
      await expect(elsewhere.put('current.json', Buffer.from('x'))).rejects.toThrow('AccessDenied')
    })

    test.each<[string, Partial<S3User>, RegExp]>([
      ['a wrong secret', { secretAccessKey: 'wrong' }, /SignatureDoesNotMatch.*check AWS_ACCESS_KEY_ID/],
      ['an unknown key', { accessKeyId: 'nobody' }, /InvalidAccessKeyId.*check AWS_ACCESS_KEY_ID/],
    ])('of %s, does not treat objects as absent', async (_what, wrong, expected) => {
      const store = await open(await s3.bucket(), { ...s3.root, ...wrong })
      await expect(store.read('current.json')).rejects.toThrow(expected)
    })
  })
})

interface Policy {
  readonly Statement: readonly { readonly Action: string | readonly string[]; readonly Resource: string }[]
}

async function documentedPolicies(): Promise<readonly [Policy, Policy]> {
  const document = await readFile(new URL('../../../docs/deploys.md', import.meta.url), 'utf8')
  const texts = [...document.matchAll(/```json\n(\{\s*"Version".*?)```/gs)].map(([, found = '']) => found)
  const [first, second] = texts.map((found): Policy => JSON.parse(found))
  if (first === undefined || second === undefined) throw new Error('docs/deploys.md has no policies')
  return [first, second]
}

function rightsOf({ Statement }: Policy, user: S3User): readonly S3Right[] {
  return Statement.map(({ Action, Resource }) => ({
    user,
    actions: [Action].flat(),
    on: Resource.replace('arn:aws:s3:::my-site', ''),
  }))
}
