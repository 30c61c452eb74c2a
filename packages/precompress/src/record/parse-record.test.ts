import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BuildRecord } from './build-record.ts'
import { parseRecord, parseStoredRecord } from './parse-record.ts'

const name = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.constantFrom('__proto__', 'constructor', 'assets/a-1.js'),
)
const sha256 = fc.stringMatching(/^[0-9a-f]{64}$/)
const texts = fc.array(fc.string({ minLength: 1 }), { maxLength: 3 })
const optional = { requiredKeys: [] }

const record: fc.Arbitrary<BuildRecord> = fc
  .tuple(
    fc.record({
      version: fc.constant(1 as const),
      time: fc.constant('2026-01-31T12:00:00Z'),
      role: fc.constantFrom('client', 'server'),
      base: fc.constantFrom('/', '/app/'),
      appType: fc.constantFrom('spa', 'mpa', 'custom'),
      assetsDirectory: fc.constantFrom('', 'assets'),
      selection: fc.record({ include: texts, exclude: texts }, optional),
      preload: fc.oneof(fc.constant(false as const), fc.record({ fonts: fc.boolean() })),
      promises: texts,
      hashed: fc.dictionary(
        name,
        fc.record({ sha256, stem: fc.constant('a-[hash].js') }, { requiredKeys: ['sha256'] }),
      ),
      graph: fc.dictionary(name, fc.record({ imports: texts, styles: texts })),
    }),
    fc.record(
      {
        begun: fc.boolean(),
        codings: fc.subarray(['zstd', 'br', 'gzip'] as const),
        minimumSize: fc.nat(),
        serving: fc.constant({ prefer: 'smallest' } as const),
        policy: fc.constant([{ directive: 'worker-src', source: 'blob:', reason: 'an inline worker' }]),
        workers: texts,
      },
      optional,
    ),
  )
  .map(([all, some]) => Object.assign(all, some))

describe('parseRecord', () => {
  test('reads every written record', () => {
    fc.assert(
      fc.property(record, (found) => {
        expect(parseRecord(JSON.stringify(found))).toEqual(JSON.parse(JSON.stringify(found)))
        const stored = { root: '/project', folder: '/project/dist', record: found }
        expect(parseStoredRecord(JSON.stringify(stored))).toEqual(JSON.parse(JSON.stringify(stored)))
      }),
    )
  })

  test('reports each problem with its place', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(() => parseRecord(text)).toThrow(TypeError)
      }),
    )
    expect(() => parseRecord('{')).toThrow(SyntaxError)
    expect(() => parseRecord('{"version":1,"hashed":{"a b":{"sha256":7}}}')).toThrow(
      '$.hashed["a b"].sha256: expected 64 lower-case hexadecimal digits, found 7',
    )
  })
})
