import { engineAsks, engineFlags, noSlab } from '@serve-dist/engine'
import type { FlatSite } from '../../src/native/engine-table.ts'

/** What the table says of a path. */
export interface TableResource {
  readonly layout: number
  readonly lastModified: string
  readonly hasDeltas: boolean
  readonly representations: readonly TableRepresentation[]
}

interface TableRepresentation {
  readonly ok: string
  readonly notModified: string
  readonly tag: string
  /** `undefined` where Node has it. */
  readonly body: string | undefined
}

/** Reads the flat table as `packages/engine/src/binding.ts` describes it. */
export function readEngineTable({ text, index, slabs }: FlatSite): ReadonlyMap<string, TableResource> {
  const latin1 = Buffer.from(text.buffer, text.byteOffset, text.length)
  const [resources = 0, count = 0] = index
  const textAt = (at: number): string => {
    const begin = index[at] ?? Number.NaN
    return latin1.toString('latin1', begin, begin + (index[at + 1] ?? Number.NaN))
  }
  const rowsEnd = 3 + 8 * resources
  if (index.length !== rowsEnd + 9 * count) throw new RangeError('the table has another length')

  const representation = (number: number): TableRepresentation => {
    const at = rowsEnd + 9 * number
    const [slab = noSlab, begin = 0, length = 0] = index.subarray(at + 6, at + 9)
    const memory = slabs[slab]
    if (memory === undefined && slab !== noSlab) throw new RangeError(`there is no slab ${slab}`)
    if (memory !== undefined && begin + length > memory.length)
      throw new RangeError('a body ends beyond its slab')
    return {
      ok: textAt(at),
      notModified: textAt(at + 2),
      tag: textAt(at + 4),
      body: memory && Buffer.from(memory).toString('utf8', begin, begin + length),
    }
  }
  return new Map(
    Array.from({ length: resources }, (_, number): [string, TableResource] => {
      const at = 3 + 8 * number
      const [layout = engineAsks, first = 0, own = 0] = index.subarray(at + 2, at + 5)
      return [
        textAt(at),
        {
          layout,
          lastModified: textAt(at + 5),
          hasDeltas: ((index[at + 7] ?? 0) & engineFlags.hasDeltas) > 0,
          representations: Array.from({ length: own }, (_each, of) => representation(first + of)),
        },
      ]
    }),
  )
}
