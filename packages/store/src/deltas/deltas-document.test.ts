import { OperatorError } from '@serve-dist/manifest'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deltaBlobsOf, type DeltasDocument, parseDeltas, stringifyDeltas } from './deltas-document.ts'

const [a, b, c] = ['a'.repeat(64), 'b'.repeat(64), 'c'.repeat(64)]

const digests = fc.stringMatching(/^[0-9a-f]{64}$/)
const blobs = fc.record({ sha256: digests, size: fc.nat() })
const variants = fc
  .record({ dcz: blobs, dcb: blobs }, { requiredKeys: [] })
  .filter((each) => Object.keys(each).length > 0)
const maps = <Value>(values: fc.Arbitrary<Value>): fc.Arbitrary<Map<string, Value>> =>
  fc.array(fc.tuple(digests, values), { maxLength: 5 }).map((entries) => new Map(entries))
const documents: fc.Arbitrary<DeltasDocument> = maps(maps(variants)).map((files) => ({ version: 1, files }))

describe('parseDeltas', () => {
  test('parses the output of stringifyDeltas, which does not depend on the order of entries', () => {
    fc.assert(
      fc.property(documents, (document) => {
        const text = stringifyDeltas(document)
        expect(parseDeltas(text, 'here')).toEqual(document)
        expect(stringifyDeltas({ version: 1, files: new Map([...document.files].toReversed()) })).toBe(text)
      }),
    )
  })

  test('throws only OperatorErrors', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        expect(() => parseDeltas(text, 'here')).toThrow(OperatorError)
      }),
    )
  })

  test.each([
    [{ version: 2, files: {} }, 'expected version 1 of the delta format, found 2'],
    [[], 'expected version 1 of the delta format, found none'],
    [{ version: 1 }, '$.files: expected an object'],
    [{ version: 1, files: { x: {} } }, '$.files.x: expected a SHA-256'],
    [{ version: 1, files: { [a]: { [b]: {} } } }, 'expected dcz, dcb or both'],
    [{ version: 1, files: { [a]: { [b]: { dcz: { sha256: 'x', size: 1 } } } } }, 'dcz.sha256: expected 64'],
    [{ version: 1, files: { [a]: { [b]: { dcb: { sha256: c, size: -1 } } } } }, 'dcb.size: expected a whole'],
  ])('rejects %j', (document, problem) => {
    expect(() => parseDeltas(JSON.stringify(document), 'here')).toThrow(problem)
  })
})

describe('deltaBlobsOf', () => {
  test('returns each blob once', () => {
    const dcz = { sha256: c, size: 5 }
    const files = new Map([
      [a, new Map([[b, { dcz }]])],
      [b, new Map([[a, { dcz, dcb: { sha256: a, size: 6 } }]])],
    ])
    expect(deltaBlobsOf({ version: 1, files })).toEqual([dcz, { sha256: a, size: 6 }])
  })
})
