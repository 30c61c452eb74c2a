import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { mediaTypeOf } from '@serve-dist/manifest'
import { decompress } from 'fzstd'
import type { PlannedRequest, PreparedWorkload, WorkloadRequest } from '../load/workload.ts'
import { exchange, type RawAnswer, type RawRequest, textOf } from './exchange.ts'

/** Requests that are checked at once. */
const atOnce = 16

/** Fields that an answer has at most once. */
const singleFields = ['content-type', 'content-length', 'content-encoding', 'etag', 'last-modified']

/** The reason why the numbers of a server are not valid. */
export class VoidRow extends Error {
  override readonly name = 'VoidRow'
}

/** The checked answers of a server. */
export interface CheckedServer {
  readonly planned: readonly PlannedRequest[]
  /** The content codings that it chose. */
  readonly codings: readonly string[]
  /** Weak points of the answers that do not make them wrong. */
  readonly remarks: readonly string[]
}

/**
 * Sends all requests of a workload, and compares status, fields and decoded body with the files.
 *
 * @throws VoidRow at the first answer that is wrong.
 */
export async function checkServer(port: number, workload: PreparedWorkload): Promise<CheckedServer> {
  const checked: CheckedRequest[] = []
  for (let first = 0; first < workload.requests.length; first += atOnce) {
    const requests = workload.requests.slice(first, first + atOnce)
    const batch = await Promise.all(requests.map((request) => checkRequest(port, { workload, request })))
    checked.push(...batch)
  }
  return {
    planned: checked.map(({ planned }) => planned),
    codings: [...new Set(checked.map(({ coding }) => coding))],
    remarks: [...new Set(checked.flatMap(({ remarks }) => remarks))],
  }
}

/** Checks at most a hundred requests of a workload, spread evenly. */
export async function recheckServer(port: number, workload: PreparedWorkload): Promise<void> {
  const step = Math.ceil(workload.requests.length / 100)
  const requests = workload.requests.filter((_, index) => index % step === 0)
  await checkServer(port, { ...workload, requests })
}

interface RequestToCheck {
  readonly workload: PreparedWorkload
  readonly request: WorkloadRequest
}

interface CheckedRequest {
  readonly planned: PlannedRequest
  readonly coding: string
  readonly remarks: readonly string[]
}

async function checkRequest(port: number, { workload, request }: RequestToCheck): Promise<CheckedRequest> {
  const original = await readFile(join(workload.directory, request.file))
  const plain = await ask(port, requestFor(port, { ...request, method: 'GET' }, workload))
  compare(request, plain, original)
  return {
    planned: await plan(port, { workload, request, plain }),
    coding: codingOf(plain),
    remarks: remarksOn(plain, request, original.length),
  }
}

interface PlanInput extends RequestToCheck {
  /** The answer to the same request without a condition, by GET. */
  readonly plain: RawAnswer
}

/** Returns the request as it will be sent, and the answer that it must get. */
async function plan(port: number, { workload, request, plain }: PlanInput): Promise<PlannedRequest> {
  const condition = request.isKnown === true ? conditionFrom(plain) : undefined
  const conditional = requestFor(port, request, workload, condition)
  const text = textOf(conditional)
  const { isUntimed = false } = request
  if (condition === undefined && request.method !== 'HEAD') {
    return { text, status: 200, wireBytes: plain.wireBytes, bodyBytes: plain.body.length, isUntimed }
  }
  const answer = await ask(port, conditional)
  const status = condition === undefined ? 200 : 304
  if (answer.status !== status) throw new VoidRow(`${request.target}: ${answer.status}, not ${status}`)
  return { text, status, wireBytes: answer.wireBytes, bodyBytes: answer.body.length, isUntimed }
}

/** Makes the request that is sent to a server. */
export function requestFor(
  port: number,
  { method = 'GET', target, accept, acceptEncoding = accept.join(', ') }: WorkloadRequest,
  { newConnections = false, tls }: PreparedWorkload,
  condition?: Readonly<Record<string, string>>,
): RawRequest {
  const fields = {
    Host: `127.0.0.1:${port}`,
    ...(acceptEncoding !== '' && { 'Accept-Encoding': acceptEncoding }),
    ...condition,
    ...(newConnections && { Connection: 'close' }),
  }
  return { method, target, fields, tls }
}

async function ask(port: number, request: RawRequest): Promise<RawAnswer> {
  try {
    return await exchange(port, request)
  } catch (error) {
    throw new VoidRow(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

function compare({ target, file, accept }: WorkloadRequest, answer: RawAnswer, original: Buffer): void {
  if (answer.status !== 200) throw new VoidRow(`${target}: ${answer.status}, not 200`)
  const repeated = singleFields.find((name) => (answer.fields.get(name)?.length ?? 0) > 1)
  if (repeated !== undefined) throw new VoidRow(`${target}: the field "${repeated}" more than once`)
  const coding = codingOf(answer)
  if (coding !== 'identity' && !accept.some((name) => name === coding)) {
    throw new VoidRow(`${target}: answered with the coding ${coding}, which the request does not accept`)
  }
  const type = fieldOf(answer, 'content-type') ?? ''
  // Some servers send scripts as application/javascript.
  const [, subtype = ''] = mediaTypeOf(file).split(/[/;]/)
  if (!type.split(/[/;]/).includes(subtype)) throw new VoidRow(`${target}: Content-Type "${type}"`)
  if (!decodeOrVoid(target, answer.body, coding).equals(original)) {
    throw new VoidRow(`${target}: the body is not the file's`)
  }
}

const decoders: Readonly<Record<string, (body: Buffer) => Uint8Array>> = {
  identity: (body) => body,
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: (body) => decompress(body),
}

function decodeOrVoid(target: string, body: Buffer, coding: string): Buffer {
  const decode = decoders[coding]
  if (decode === undefined) throw new VoidRow(`${target}: Content-Encoding: ${coding}`)
  try {
    return Buffer.from(decode(body))
  } catch (error) {
    throw new VoidRow(`${target}: the body is not ${coding}`, { cause: error })
  }
}

function conditionFrom(answer: RawAnswer): Record<string, string> {
  const validator = fieldOf(answer, 'etag')
  if (validator === undefined) throw new VoidRow('gives no validator for If-None-Match')
  return { 'If-None-Match': validator }
}

function remarksOn(answer: RawAnswer, { file }: WorkloadRequest, size: number): string[] {
  const remarks: string[] = []
  const isCoded = codingOf(answer) !== 'identity'
  if (isCoded && !/accept-encoding|\*/i.test(fieldOf(answer, 'vary') ?? '')) remarks.push('no Vary')
  if (fieldOf(answer, 'cache-control') === undefined) remarks.push('no Cache-Control')
  if (fieldOf(answer, 'etag') === undefined) remarks.push('no ETag')
  if (fieldOf(answer, 'content-length') === undefined) remarks.push('chunked')
  if (!isCoded && size >= worthCompressing && compressible.test(file)) remarks.push('not compressed')
  return remarks
}

/** In bytes. */
const worthCompressing = 1024
const compressible = /\.(?:js|css|html|svg|json)$/

function codingOf(answer: RawAnswer): string {
  return fieldOf(answer, 'content-encoding') ?? 'identity'
}

function fieldOf(answer: RawAnswer, name: string): string | undefined {
  return answer.fields.get(name)?.[0]
}
