import { describe, expect, test } from 'vitest'
import { fakeSite } from '../../test/support/fake-site.ts'
import { recordOf } from '../../test/support/native/engine-record.ts'
import { requestOf } from '../../test/support/request-of.ts'
import { decide } from '../site/decide.ts'
import { checkAnswers } from './check-answers.ts'

const site = fakeSite({ 'a.js': { body: '0123456789', variants: { br: 'b' } }, 'b.js': 'other' })

/** The head that Node would send. */
function headOf(target: string): string {
  const answer = decide(site, requestOf({ method: 'GET', target }), undefined)
  const lines = (answer?.fields ?? []).map((text, index) => text + (index % 2 === 0 ? ': ' : '\r\n'))
  const added = 'Date: today\r\nConnection: keep-alive\r\nKeep-Alive: timeout=65\r\n'
  return `HTTP/1.1 ${answer?.status} Some\r\n${lines.join('')}${added}\r\n`
}

function record(target: string, head: string, bytes: number): Buffer {
  return recordOf('', `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n${head}`, { bytes, isAborted: false })
}

/** What is told of answers of an engine, and what is left for the log. */
function check(records: readonly Buffer[]): { readonly told: readonly string[]; readonly left: number } {
  const told: string[] = []
  const log = Buffer.concat(records)
  let logs: Uint8Array[] = []
  const takeLog = (): Uint8Array[] => {
    const taken = logs
    logs = []
    return taken
  }
  const engine = { counts: () => new Float64Array(0), panics: () => 0, dropped: () => 0, takeLog }
  const checked = checkAnswers(engine, { isLogged: true, tell: (line) => told.push(line) })
  checked.swap(site)
  logs = [log]
  checked.end()
  return { told, left: checked.takeLog().length }
}

describe('checkAnswers', () => {
  test('says nothing of answers that are those of decide, and leaves them to the log', () => {
    const records = [
      record('/a.js', headOf('/a.js'), 10),
      record('/b.js', headOf('/b.js').replace('ETag', 'etag'), 5),
      recordOf('', `HEAD /b.js HTTP/1.1\r\n\r\n${headOf('/b.js')}`, { bytes: 0, isAborted: false }),
      recordOf('', `GET /b.js HTTP/1.1\r\n\r\n${headOf('/b.js')}`, { bytes: 3, isAborted: true }),
    ]
    expect(check(records)).toEqual({ told: ['4 answers compared, 0 differ'], left: 1 })
  })

  test('tells of each kind of difference once, and counts all', () => {
    const other = headOf('/b.js')
    const { told } = check([
      record('/a.js', headOf('/a.js').replace('200', '304'), 10),
      record('/a.js', other, 10),
      record('/a.js', other, 10),
      record('/a.js', headOf('/a.js'), 9),
      record('/none.js', other, 5),
    ])
    expect(told).toEqual([
      'GET /a.js: not what decide answers (-), but (+): - status: 200; + status: 304',
      expect.stringMatching(/: - content-length: 10; .*- etag: "\S+; \+ content-length: 5; \+ etag: "/),
      'GET /a.js: not what decide answers (-), but (+): - body: 10 bytes; + body: 9 bytes',
      expect.stringMatching(/^GET \/none\.js: .*: \+ status: 200; /),
      '5 answers compared, 5 differ',
    ])
  })
})
