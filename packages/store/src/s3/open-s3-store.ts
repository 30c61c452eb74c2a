import { randomUUID } from 'node:crypto'
import type {
  GetObjectCommandInput,
  PutObjectCommandInput,
  PutObjectCommandOutput,
  S3ClientConfig,
} from '@aws-sdk/client-s3'
import { OperatorError } from '@serve-dist/manifest'
import type { Content, StoreBackend } from '../backend.ts'
import { currentKey } from '../layout.ts'
import { digestOfKey, verifyContent } from '../verify-content.ts'
import { checkKey, type FailedStep, storeUnavailable, UnansweredError } from '../store-error.ts'
import { timeLimitFor, withTimeLimit } from '../with-time-limit.ts'
import { connectS3, parseS3Place } from './connect-s3.ts'
import { resumedBody } from './resumed-body.ts'
import { s3FailureOf } from './s3-failure.ts'
import { retry } from './retry.ts'

/** The prefix of objects that test conditional writes. Killed processes left those older than `probeAge` (milliseconds). */
const probesPrefix = 'probes/'
const probeAge = 60 * 60 * 1000

const noList = new Error('the response is not a list of objects')
const endless = new Error('the list is incomplete: the endpoint sent no new continuation token')

/**
 * Opens a store in a bucket of S3 or of a compatible service.
 *
 * @param place - for example `s3://bucket/prefix`.
 * @param settings - SDK settings that override the environment.
 */
export async function openS3Store(place: string, settings: S3ClientConfig = {}): Promise<StoreBackend> {
  const { bucket, prefix } = parseS3Place(place)
  const { sdk, client } = await connectS3(settings)
  const dates = new WeakMap<object, number>()
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args)
      dates.set(result.output, dateOf(result.response))
      return result
    },
    { step: 'initialize' },
  )
  const timeOf = (output: object): number => dates.get(output) ?? Date.now()
  const objectAt = (key: string) => ({ Bucket: bucket, Key: prefix + key })

  const failed = (verb: FailedStep['verb'], key: string, error: unknown, signal?: AbortSignal): unknown =>
    signal?.aborted === true
      ? signal.reason
      : storeUnavailable({ place, verb, key }, error, s3FailureOf(error).reason)

  const get = async (key: string, more: Partial<GetObjectCommandInput>, signal?: AbortSignal) =>
    await client.send(new sdk.GetObjectCommand({ ...objectAt(key), ...more }), {
      ...(signal !== undefined && { abortSignal: signal }),
    })

  const listPage = async (begin: string, token: string | undefined, signal: AbortSignal | undefined) => {
    const input = { Bucket: bucket, Prefix: prefix + begin, ContinuationToken: token }
    const limit = { milliseconds: timeLimitFor(0), signal }
    const ask = async (abortSignal: AbortSignal) =>
      await retry(
        async () => await client.send(new sdk.ListObjectsV2Command(input), { abortSignal }),
        abortSignal,
      )
    return await withTimeLimit({ place, verb: 'list', key: begin }, limit, ask).catch((error: unknown) => {
      throw failed('list', begin, error, signal)
    })
  }

  /** Returns whether an object counts as missing. Without `ListBucket` permission, S3 answers 403 for a missing key. */
  const isMissingForAllWeKnow = async (key: string, signal: AbortSignal | undefined): Promise<boolean> => {
    try {
      const { Contents = [] } = await listPage(key, undefined, signal)
      return !Contents.some(({ Key }) => Key === prefix + key)
    } catch (error) {
      if (error instanceof Error && s3FailureOf(error.cause).code === 'AccessDenied') return true
      throw error
    }
  }

  const send = async (
    key: string,
    content: Content,
    conditions: Partial<PutObjectCommandInput>,
    signal: AbortSignal | undefined,
  ): Promise<PutObjectCommandOutput> => {
    const body = verifyContent(key, content)
    const length = content instanceof Uint8Array ? content.length : content.size
    const command = new sdk.PutObjectCommand({
      ...objectAt(key),
      ...conditions,
      Body: body,
      ContentLength: length,
    })
    const digest = digestOfKey(key)
    if (digest !== undefined) {
      // The store then rejects bytes that were corrupted in transit.
      command.middlewareStack.add(
        (next) => async (args) => {
          if (hasHeaders(args.request)) args.request.headers['x-amz-content-sha256'] = digest
          return await next(args)
        },
        { step: 'build' },
      )
    }
    const limit = { milliseconds: timeLimitFor(length), signal }
    // The SDK would wait for the rest of a failed body.
    const stop = new AbortController()
    let failure: Error | undefined
    body.once('error', (error) => {
      failure = error
      stop.abort()
    })
    try {
      return await withTimeLimit({ place, verb: 'put', key }, limit, async (end) => {
        return await client.send(command, { abortSignal: AbortSignal.any([end, stop.signal]) })
      })
    } catch (error) {
      throw failure ?? error
    } finally {
      body.destroy()
    }
  }

  const store: StoreBackend = {
    place,

    async endpoint() {
      const command = new sdk.GetObjectCommand(objectAt(currentKey))
      let found = ''
      // Lets the SDK resolve its settings and intercepts the request before it is sent.
      command.middlewareStack.add(
        () =>
          async ({ request }) => {
            if (hasHost(request)) found = `${request.protocol}//${request.hostname}:${request.port ?? ''}`
            return { response: undefined, output: { $metadata: {} } }
          },
        { step: 'build', priority: 'high' },
      )
      await client.send(command).catch((error: unknown) => {
        throw failed('read', currentKey, error)
      })
      return found
    },

    async read(key, { unless, signal } = {}) {
      checkKey(key)
      try {
        const conditions = unless === undefined ? {} : { IfNoneMatch: unless }
        const first = await retry(async () => await get(key, conditions, signal), signal)
        const { ContentLength: size, ETag: version } = first
        if (size === undefined || version === undefined)
          throw new Error('the response has no Content-Length or no ETag')
        const body = resumedBody({
          first: first.Body,
          size,
          reopen: async (at) => {
            const { Body, ContentRange } = await get(key, { Range: `bytes=${at}-`, IfMatch: version }, signal)
            if (ContentRange?.startsWith(`bytes ${at}-`) !== true)
              throw new Error(
                'the download broke off and cannot continue, because the endpoint ignores Range',
              )
            return Body
          },
          failed: (error) => failed('read', key, error, signal),
          signal,
        })
        return { body, size, version, time: timeOf(first) }
      } catch (error) {
        const { status, code } = s3FailureOf(error)
        if (status === 304) return 'unchanged'
        if (code === 'NoSuchKey') return undefined
        if (status === 403 && code === 'AccessDenied') {
          if (await isMissingForAllWeKnow(key, signal)) return undefined
        }
        throw failed('read', key, error, signal)
      }
    },

    async *list(begin, { signal } = {}) {
      for (let token: string | undefined; ;) {
        const page = await listPage(begin, token, signal)
        for (const { Key, Size, LastModified } of page.Contents ?? []) {
          // S3 consoles create such objects as folders.
          if (Key === undefined || Key.endsWith('/')) continue
          yield { key: Key.slice(prefix.length), size: Size ?? 0, modified: LastModified?.getTime() ?? 0 }
        }
        const { NextContinuationToken: next, IsTruncated: isTruncated } = page
        if (isTruncated === undefined) throw failed('list', begin, noList)
        if (!isTruncated) return
        if (next === undefined || next === token) throw failed('list', begin, endless)
        token = next
      }
    },

    async put(key, content, { replaces, signal } = {}) {
      checkKey(key)
      signal?.throwIfAborted()
      const conditions =
        replaces === undefined ? {} : replaces === null ? { IfNoneMatch: '*' } : { IfMatch: replaces }
      const change = { isSettled: true }
      try {
        const output = await retryChange(change, () => send(key, content, conditions, signal), signal)
        // Without an ETag, another server answered, for example the login page of a network.
        if (output.ETag === undefined)
          throw new Error('the response has no ETag, so it is not from an S3 server')
        return { version: output.ETag, time: timeOf(output) }
      } catch (error) {
        const { status, code } = s3FailureOf(error)
        const isRefused = status === 412 || (typeof replaces === 'string' && code === 'NoSuchKey')
        if (isRefused && replaces !== undefined) return 'conflict'
        const failure = failed('put', key, error, signal)
        if (change.isSettled || !(failure instanceof OperatorError)) throw failure
        throw new UnansweredError(failure.code, failure.message, { cause: error })
      }
    },

    async delete(key, { signal } = {}) {
      checkKey(key)
      const abort = signal === undefined ? {} : { abortSignal: signal }
      const change = { isSettled: true }
      try {
        const command = new sdk.DeleteObjectCommand(objectAt(key))
        await retryChange(change, () => client.send(command, abort), signal)
      } catch (error) {
        if (s3FailureOf(error).code !== 'NoSuchKey') throw failed('delete', key, error, signal)
      }
      return change.isSettled ? undefined : 'unsettled'
    },

    async honoursConditions({ signal } = {}) {
      const key = `${probesPrefix}${randomUUID()}`
      const probe = (text: string): Uint8Array => Buffer.from(`${key} ${text}`)
      const first = await store.put(key, probe('first'), { replaces: null, signal })
      const again = await store.put(key, probe('second'), { replaces: null, signal })
      const other = await store.put(key, probe('third'), { replaces: `"${'0'.repeat(32)}"`, signal })
      await store.delete(key, { signal })
      // Deletes probes of processes that were killed during this check.
      for await (const left of store.list(probesPrefix, { signal })) {
        if (first !== 'conflict' && first.time - left.modified > probeAge)
          await store.delete(left.key, { signal })
      }
      return again === 'conflict' && other === 'conflict'
    },
  }
  return store
}

/** Retries a request that changes an object. `isSettled` becomes false if an attempt has no answer. */
async function retryChange<Output>(
  change: { isSettled: boolean },
  attempt: () => Promise<Output>,
  signal: AbortSignal | undefined,
): Promise<Output> {
  return await retry(async () => {
    try {
      return await attempt()
    } catch (error) {
      change.isSettled &&= s3FailureOf(error).isAnswered
      throw error
    }
  }, signal)
}

function hasHeaders(request: unknown): request is { headers: Record<string, string | undefined> } {
  if (typeof request !== 'object' || request === null || !('headers' in request)) return false
  return typeof request.headers === 'object' && request.headers !== null
}

function hasHost(request: unknown): request is { protocol: string; hostname: string; port?: number } {
  return typeof request === 'object' && request !== null && 'protocol' in request && 'hostname' in request
}

function dateOf(response: unknown): number {
  const date = hasHeaders(response) ? Date.parse(response.headers['date'] ?? '') : Number.NaN
  return Number.isNaN(date) ? Date.now() : date
}
