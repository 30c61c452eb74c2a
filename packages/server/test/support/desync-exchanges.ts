import fc from 'fast-check'
import type { Socket } from 'node:net'
import { expect } from 'vitest'
import { startTarget, type Target } from './start-target.ts'

const faults = [
  'none',
  'none',
  'none',
  'two answers',
  'too long',
  'early hints',
  'early answer',
  'flood',
  'endless head',
  'close after',
  'half',
  'no answer',
  'garbage',
  'both lengths',
  'folded',
  'bare line feed',
  'chunk extension',
] as const

/** A request and what the target does wrong in its answer. */
export interface Exchange {
  readonly method: 'GET' | 'POST' | 'HEAD'
  readonly body: string
  readonly hasLength: boolean
  readonly fault: (typeof faults)[number]
  /** The places of cuts in the octets of the request. */
  readonly cuts: readonly number[]
}

/** Exchanges whose bodies and answers become requests and answers of their own if a parser is wrong. */
export const desyncExchange: fc.Arbitrary<Exchange> = fc.record({
  method: fc.constantFrom('GET', 'POST', 'POST', 'HEAD'),
  body: fc.constantFrom('', 'GET /api/stolen HTTP/1.1\r\nHost: a\r\n\r\n', '0\r\n\r\n', 'x'.repeat(3000)),
  hasLength: fc.boolean(),
  fault: fc.constantFrom(...faults),
  cuts: fc.array(fc.nat({ max: 200 }), { maxLength: 3 }),
})

/** Returns the path of a request, which tells the target its ID and fault. */
export function pathOf({ fault }: Exchange, id: number): string {
  return `/api/${id}/${encodeURIComponent(fault)}`
}

/** Returns the body of the only right answer with status 200. */
export function bodyOfAnswer({ method, body, fault }: Exchange, id: number): string {
  if (method === 'HEAD') return ''
  if (fault === 'early answer') return `${id} early`
  return `${id} ${method === 'POST' ? body.length : 0}`
}

/** Splits a text at the cuts. */
export function cutText(text: string, cuts: readonly number[]): string[] {
  const places = [0, ...cuts.toSorted((a, b) => a - b), text.length]
  return places.slice(1).map((end, index) => text.slice(places[index], end))
}

/** Starts a target that answers with the fault in each path. */
export async function startDesyncTarget(): Promise<Target> {
  return await startTarget(
    ({ line, body }, socket) => {
      const { id, fault, method } = readLine(line)
      if (fault !== 'early answer') answer({ id, fault, method, text: `${id} ${body.length}` }, socket)
    },
    {
      onHead(head, socket) {
        const { id, fault, method } = readLine(head)
        if (fault === 'early answer') answer({ id, fault, method, text: `${id} early` }, socket)
      },
    },
  )
}

function readLine(line: string) {
  const [method = '', path = ''] = line.split(' ')
  const [, id = '', fault = ''] = /^\/api\/(\d+)\/(.*)$/.exec(decodeURIComponent(path)) ?? []
  return { method, id, fault }
}

interface FaultyAnswer {
  readonly id: string
  readonly fault: string
  readonly method: string
  readonly text: string
}

function answer({ id, fault, method, text }: FaultyAnswer, socket: Socket): void {
  const body = method === 'HEAD' ? '' : text
  const head = 'HTTP/1.1 200 OK\r\n'
  const plain = `${head}X-Id: ${id}\r\nContent-Length: ${text.length}\r\n\r\n${body}`
  const hint = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'
  const texts: Readonly<Record<string, string>> = {
    'two answers': plain + plain.replaceAll(id, 'stolen'),
    'too long': `${plain}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen`,
    'early hints': hint + plain,
    flood: hint.repeat(100) + plain,
    'endless head': `${head}X: ${'x'.repeat(100_000)}`,
    half: plain.slice(0, -1),
    'no answer': '',
    garbage: '\0\r\n\r\n',
    'both lengths': `${head}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nstolen\r\n0\r\n\r\n`,
    folded: `${head}X: a\r\n b\r\nContent-Length: 6\r\n\r\nstolen`,
    'bare line feed': `${head}Content-Length: 6\n\nstolen`,
    'chunk extension': `${head}X-Id: ${id}\r\nTransfer-Encoding: chunked\r\n\r\n${body && `${body.length.toString(16)};a="b"\r\n${body}\r\n0\r\n\r\n`}`,
  }
  const octets = texts[fault] ?? plain
  if (['close after', 'half', 'no answer', 'garbage'].includes(fault)) socket.end(octets, 'latin1')
  else socket.write(octets, 'latin1')
}

/** Expects that no body became a request, and that only idempotent requests arrived twice. */
export function expectRequestsOnce({ requests }: Target): void {
  expect(requests.filter(({ line }) => line.includes('stolen'))).toEqual([])
  const counts = new Map<string, number>()
  for (const { line } of requests) counts.set(line, (counts.get(line) ?? 0) + 1)
  expect([...counts].filter(([line, count]) => count > (line.startsWith('POST') ? 1 : 2))).toEqual([])
}
