import { noSlab } from '@serve-dist/engine'
import { describe, expect, test } from 'vitest'
import { createSlabCollector, type Slabs } from './collect-slabs.ts'

const memory = new TextEncoder().encode('abcdefghij').buffer
const other = new TextEncoder().encode('klm').buffer

function bodyIn(buffer: ArrayBuffer, begin: number, length: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer, begin, length)
}

/** Collects without pauses and returns places in pairs. */
function collect(bodies: readonly (Uint8Array<ArrayBuffer> | undefined)[]): {
  slabs: Slabs['slabs']
  places: number[][]
} {
  const collector = createSlabCollector(bodies.length)
  for (const body of bodies) collector.add(body)
  const steps = collector.collect()
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done !== true) continue
    const { slabs, places } = step.value
    return { slabs, places: bodies.map((_, number) => [...places.subarray(2 * number, 2 * number + 2)]) }
  }
}

describe('createSlabCollector', () => {
  test('merges adjacent bodies in any order', () => {
    const { slabs, places } = collect([bodyIn(memory, 4, 2), bodyIn(other, 0, 3), bodyIn(memory, 1, 3)])
    expect(slabs.map((slab) => Buffer.from(slab).toString())).toEqual(['bcdef', 'klm'])
    expect(places).toEqual([
      [0, 3],
      [1, 0],
      [0, 0],
    ])
  })

  test('excludes bytes that belong to no body and may be overwritten', () => {
    const { slabs, places } = collect([bodyIn(memory, 7, 2), bodyIn(memory, 0, 2)])
    expect(slabs.map((slab) => Buffer.from(slab).toString())).toEqual(['ab', 'hi'])
    expect(places).toEqual([
      [1, 0],
      [0, 0],
    ])
  })

  test('gives bodies with shared bytes the same place', () => {
    const { slabs, places } = collect([bodyIn(memory, 2, 4), bodyIn(memory, 2, 4), bodyIn(memory, 3, 1)])
    expect(slabs.map((slab) => Buffer.from(slab).toString())).toEqual(['cdef'])
    expect(places).toEqual([
      [0, 0],
      [0, 0],
      [0, 1],
    ])
  })

  test('has no slab for bodies that are empty or not in memory', () => {
    const { slabs, places } = collect([undefined, bodyIn(memory, 2, 0)])
    expect(slabs).toEqual([])
    expect(places).toEqual([
      [noSlab, noSlab],
      [noSlab, noSlab],
    ])
  })
})
