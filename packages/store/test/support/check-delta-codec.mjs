// node check-delta-codec.mjs [seed]: compares the delta codec of this Node.js with the decoder of `node:zlib` and
// prints its codings.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import zlib from 'node:zlib'
import fc from 'fast-check'
import { availableDeltaCodings, encodeDelta } from '../../dist/deltas/delta-codec.js'

const mebibyte = 1024 * 1024
const codings = availableDeltaCodings()
const heads = { dcz: '5e2a4d1820000000', dcb: 'ff444342' }
const decoders = { dcz: zlib.zstdDecompressSync, dcb: zlib.brotliDecompressSync }

/**
 * @param {import('@serve-dist/manifest').DeltaCoding} coding
 * @param {Uint8Array} dictionary
 * @param {Uint8Array} bytes
 */
function checkDelta(coding, dictionary, bytes) {
  const delta = Buffer.from(encodeDelta(coding, { dictionary, bytes }) ?? '')
  const head = heads[coding] + createHash('sha256').update(dictionary).digest('hex')
  assert.equal(delta.subarray(0, head.length / 2).toString('hex'), head)
  const body = delta.subarray(head.length / 2)
  assert.equal(Buffer.compare(decoders[coding](body, { dictionary }), bytes), 0)
  return body
}

/** @type {fc.Arbitrary<string>} */
const word = fc.constantFrom('const ', 'answer', '=', '42', ';\n', 'é', '{', '}', 'return ')
const words = fc.array(word, { minLength: 100, maxLength: 2000 })
const edits = fc.array(fc.tuple(fc.nat(3000), fc.nat(50), fc.string()), { maxLength: 5 })
const text = (/** @type {string[]} */ parts) => Buffer.from(parts.join(''))

for (const coding of codings) {
  fc.assert(
    fc.property(words, edits, (old, changes) => {
      const next = old.slice()
      for (const [at, gone, added] of changes) next.splice(at, gone, added)
      checkDelta(coding, text(old), text(next))
    }),
    { seed: Number(process.argv[2] ?? Date.now()), numRuns: 50 },
  )
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 256, maxLength: 2000 }),
      fc.uint8Array({ minLength: 1 }),
      (old, next) => {
        checkDelta(coding, old, next)
      },
    ),
  )
  // The encoder reaches the whole dictionary with a window that browsers accept.
  const large = randomBytes(8 * mebibyte)
  const body = checkDelta(coding, large, large)
  assert.ok(body.length < 1024, `${coding} of a copy has ${body.length} bytes`)
  assert.ok(windowOf(coding, body) <= (coding === 'dcz' ? 10 : 16) * mebibyte)
}
const tables = Buffer.concat([Buffer.from('37a430ec', 'hex'), randomBytes(1000)])
assert.equal(encodeDelta('dcz', { dictionary: tables, bytes: tables }), undefined)
if (codings.includes('dcb')) checkDelta('dcb', tables, tables)
console.log(codings.join())

/**
 * Returns the window that a decoder needs: RFC 8878 §3.1.1.1, RFC 7932 §9.1.
 *
 * @param {string} coding
 * @param {Buffer} body
 */
function windowOf(coding, body) {
  if (coding === 'dcb') {
    const bits = body[0] ?? 0
    assert.ok((bits & 0b1) === 1 && (bits & 0b1110) !== 0, 'a window of at least 2 ** 18')
    return 2 ** (17 + ((bits >> 1) & 0b111))
  }
  const descriptor = body[4] ?? 0
  // A single segment has its content size as the window. The size comes next.
  if ((descriptor & 0b10_0000) !== 0) return body.readUInt32LE(5)
  const window = body[5] ?? 0
  const base = 2 ** (10 + (window >> 3))
  return base + (base / 8) * (window & 0b111)
}
