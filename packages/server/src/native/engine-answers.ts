import { type Engine, engineCounts } from '@serve-dist/engine'
import type { EngineAnswer, EngineAnswers, EngineRequest } from '../transport/transport.ts'

const { totals, classes } = engineCounts
/** Bytes of a record before the peer's address. */
const fixedLength = 31

/** Reads the counters and the log of an engine, in the format of `packages/engine/src/binding.ts`. */
export function readEngineAnswers(
  engine: Pick<Engine, 'counts' | 'takeLog' | 'panics' | 'dropped'>,
): EngineAnswers {
  return {
    readCounts() {
      const counts = engine.counts()
      const [begun = 0, aborted = 0, saved = 0, sent = 0, nanoseconds = 0] = counts
      return {
        begun,
        aborted,
        savedBytes: saved,
        bytes: sent,
        seconds: nanoseconds / 1e9,
        byClass: counts.subarray(totals, totals + classes),
        byDuration: counts.subarray(totals + classes),
        panics: engine.panics(),
        dropped: engine.dropped(),
      }
    },
    takeEnded: () => inOrder(engine.takeLog().map(readRecords)),
  }
}

/** Merges the answers of all threads, ordered by the times at which they ended. */
function* inOrder(threads: readonly Iterator<EngineAnswer>[]): Generator<EngineAnswer> {
  const firsts = threads.map((thread) => ({ thread, answer: nextOf(thread) }))
  for (;;) {
    let earliest = firsts[0]
    for (const first of firsts) {
      if (endOf(first.answer) < endOf(earliest?.answer)) earliest = first
    }
    if (earliest?.answer === undefined) return
    yield earliest.answer
    earliest.answer = nextOf(earliest.thread)
  }
}

function nextOf(thread: Iterator<EngineAnswer>): EngineAnswer | undefined {
  const next = thread.next()
  return next.done === true ? undefined : next.value
}

function endOf(answer: EngineAnswer | undefined): number {
  return answer?.ended ?? Number.POSITIVE_INFINITY
}

/** Parses records lazily, so that the caller can spread the work over several turns. */
export function* readRecords(log: Uint8Array): Generator<EngineAnswer> {
  const buffer = Buffer.from(log.buffer, log.byteOffset, log.length)
  for (let at = 0; at < buffer.length;) {
    const end = at + buffer.readUInt32LE(at)
    const request = at + fixedLength + buffer.readUInt8(at + fixedLength - 1)
    yield {
      ended: buffer.readDoubleLE(at + 4) * 1000,
      milliseconds: buffer.readDoubleLE(at + 12) * 1000,
      bytes: Number(buffer.readBigUInt64LE(at + 20)),
      class: buffer.readUInt8(at + 28),
      isAborted: buffer.readUInt8(at + 29) === 1,
      request: readHead(buffer.toString('latin1', request, end)),
      peer: buffer.toString('latin1', at + fixedLength, request),
    }
    at = end
  }
}

/** Parses the head of a request that the engine answered, like Node's parser. */
function readHead(head: string): EngineRequest {
  const [requestLine = '', ...lines] = head.split('\r\n')
  const [method, url, protocol = ''] = requestLine.split(' ')
  const rawHeaders: string[] = []
  for (const line of lines) {
    // Names of HTTP/2 pseudo-fields begin with a colon.
    const colon = line.indexOf(':', 1)
    if (colon > 0) rawHeaders.push(line.slice(0, colon), line.slice(colon + 1).replace(surroundingSpace, ''))
  }
  return { method, url, httpVersion: protocol.slice('HTTP/'.length), rawHeaders }
}

/** RFC 9110 §5.6.3. */
const surroundingSpace = /^[\t ]+|[\t ]+$/g
