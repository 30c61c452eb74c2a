import { once } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import { type Connection, openConnection } from '../open-connection.ts'
import type { RawResponse } from '../parse-response.ts'
import type { SoakAnswer, SoakModel } from './soak-model.ts'
import type { Random } from './soak-random.ts'
import { soakRefusals } from './soak-refusals.ts'
import { octetsOf, randomRequest, type SoakRequest } from './soak-request.ts'

/** A client that keeps asking. */
export interface SoakConnectionOptions {
  readonly port: number
  readonly model: SoakModel
  readonly random: Random
  readonly isOver: () => boolean
}

interface Exchange {
  readonly request: SoakRequest
  readonly octets: string
  readonly expected: SoakAnswer
  /** Whether the answer ends the connection. */
  readonly closes: boolean
}

/** Far beyond what an answer may take on a busy machine. */
const patience = 30_000

/**
 * Sends requests, alone and pipelined, whole and in pieces, on one connection after another, and compares
 * every answer with the model's. Answers how many were right.
 *
 * @throws Error with the request, what was expected and what came, at the first that was not.
 */
export async function soakConnection(options: SoakConnectionOptions): Promise<number> {
  const { random, isOver } = options
  let answers = 0
  let connection: Connection | undefined
  while (!isOver()) {
    connection ??= await connectPatiently(options.port)
    if (random.chance(0.02)) {
      await leaveEarly(connection, options)
      connection = undefined
      continue
    }
    if (random.chance(0.02)) {
      await expectRefusal(connection, random)
      answers += 1
      connection = undefined
      continue
    }
    const count = random.chance(0.5) ? 1 : 2 + random.integer(12)
    const batch = Array.from({ length: count }, () => randomExchange(options))
    const closing = batch.findIndex(({ closes }) => closes)
    const asked = closing === -1 ? batch : batch.slice(0, closing + 1)
    await send(connection, asked.map(({ octets }) => octets).join(''), random)
    for (const exchange of asked) {
      await expectAnswer(connection, exchange)
      answers += 1
    }
    if (closing !== -1) {
      await expectEnd(connection, 'a request that asked for the end')
      connection = undefined
    }
  }
  if (connection !== undefined) {
    connection.socket.end()
    await expectEnd(connection, 'the end of the soak')
  }
  return answers
}

async function connectPatiently(port: number): Promise<Connection> {
  const connection = await openConnection(port)
  connection.socket.setTimeout(patience, () => connection.socket.destroy())
  return connection
}

function randomExchange({ random, model }: SoakConnectionOptions): Exchange {
  const request = randomRequest(random, model.vocabulary)
  const expected = model.answer(request)
  return { request, octets: octetsOf(request), expected, closes: closesAfter(request, expected) }
}

function closesAfter({ version, fields }: SoakRequest, expected: SoakAnswer): boolean {
  const connection = fields.find(([name]) => name.toLowerCase() === 'connection')?.[1]
  // Nobody asks for the body that it announces.
  if (fields.some(([name]) => name === 'Expect')) return true
  if (version === 'HTTP/1.1') return connection === 'close'
  // To HTTP/1.0, an answer without a length ends with its connection.
  return connection !== 'keep-alive' || expected.fields['content-length'] === undefined
}

/** Sends octets at once or in pieces. */
async function send(connection: Connection, octets: string, random: Random): Promise<void> {
  let rest = octets
  while (random.chance(0.2) && rest !== '') {
    const length = 1 + random.integer(Math.min(rest.length, 400))
    connection.send(rest.slice(0, length))
    rest = rest.slice(length)
    await new Promise((resolve) => setImmediate(resolve))
  }
  if (rest !== '') connection.send(rest)
}

/** Goes away in mid-request or in mid-answer. */
async function leaveEarly(connection: Connection, { random, model }: SoakConnectionOptions): Promise<void> {
  const octets = octetsOf(randomRequest(random, model.vocabulary)).repeat(1 + random.integer(3))
  connection.send(octets.slice(0, 1 + random.integer(octets.length)))
  if (random.chance(0.5)) await new Promise((resolve) => setImmediate(resolve))
  const closed = once(connection.socket, 'close')
  if (random.chance(0.5)) connection.socket.resetAndDestroy()
  else connection.socket.destroy()
  await closed
}

async function expectRefusal(connection: Connection, random: Random): Promise<void> {
  const [status, octets] = random.pick(soakRefusals)
  connection.send(octets)
  const response = await receive(connection, octets, 'GET')
  if (response.status !== status || response.field('Connection')?.toLowerCase() !== 'close') {
    fail(octets, `a refusal with ${status}`, describe(response))
  }
  await expectEnd(connection, octets)
}

async function expectAnswer(
  connection: Connection,
  { request, octets, expected, closes }: Exchange,
): Promise<void> {
  let response = await receive(connection, octets, request.method)
  // Behind an answer under way there is none.
  if (response.status === 103) {
    if (expected.hints === undefined || response.field('Link') !== expected.hints)
      fail(octets, `103 with ${expected.hints ?? 'nothing: none'}`, describe(response))
    response = await receive(connection, octets, request.method)
  }
  const { connection: kept, 'keep-alive': keepAlive, date, ...found } = fieldsOf(response)
  const isRight =
    response.status === expected.status &&
    isDeepStrictEqual(found, expected.fields) &&
    response.body.equals(expected.body) &&
    kept === (closes ? 'close' : 'keep-alive') &&
    keepAlive === (closes ? undefined : 'timeout=65') &&
    Math.abs(Date.now() - Date.parse(date ?? '')) < 5 * 60_000
  if (isRight) return
  const told = { status: expected.status, ...expected.fields, body: `${expected.body.length} bytes` }
  fail(octets, JSON.stringify(told, undefined, 1), describe(response))
}

function fieldsOf(response: RawResponse): Readonly<Partial<Record<string, string>>> {
  // `field` fails where a name stands there twice.
  return Object.fromEntries(response.fields.map(([name]) => [name.toLowerCase(), response.field(name)]))
}

async function receive(connection: Connection, octets: string, method: string): Promise<RawResponse> {
  try {
    return await connection.receive(method)
  } catch (error) {
    return fail(octets, 'a response', String(error))
  }
}

async function expectEnd(connection: Connection, octets: string): Promise<void> {
  const rest = await connection.rest()
  if (rest.length > 0) fail(octets, 'nothing after the response', rest.toString('latin1'))
}

function describe(response: RawResponse): string {
  const { status, body } = response
  return JSON.stringify({ status, ...fieldsOf(response), body: `${body.length} bytes` }, undefined, 1)
}

function fail(octets: string, expected: string, found: string): never {
  throw new Error(`request ${JSON.stringify(octets)}\nexpected ${expected}\nfound ${found}`)
}
