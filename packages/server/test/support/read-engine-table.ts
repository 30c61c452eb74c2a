import { engineNodeChoice, engineFlags, engineMarks, noSlab } from '@serve-dist/engine'
import type { FlatSite } from '../../src/native/engine-table.ts'

/** The table entry of a path. */
export interface TableResource {
  readonly layout: number
  readonly lastModified: string
  readonly hasDeltas: boolean
  readonly hasHints: boolean
  readonly representations: readonly TableRepresentation[]
}

interface TableRepresentation {
  readonly ok: string
  readonly notModified: string
  readonly tag: string
  /** `undefined` if the body is in a file or comes from Node. */
  readonly body: string | undefined
  /** `undefined` if the body is in memory or comes from Node. */
  readonly file: string | undefined
}

/** Parses the flat table that `packages/engine/src/binding.ts` describes. */
export function readEngineTable({ text, index, slabs, files }: FlatSite): ReadonlyMap<string, TableResource> {
  const latin1 = Buffer.from(text.buffer, text.byteOffset, text.length)
  const [resources = 0, count = 0, , templates = 0] = index
  const textAt = (at: number): string => {
    const begin = index[at] ?? Number.NaN
    return latin1.toString('latin1', begin, begin + (index[at + 1] ?? Number.NaN))
  }
  const rowsEnd = 4 + 10 * resources
  const templatesAt = rowsEnd + 6 * count
  if (index.length !== templatesAt + 4 * templates) throw new RangeError('the table has another length')

  const representation = (number: number, resourceAt: number): TableRepresentation => {
    const at = rowsEnd + 6 * number
    const [slab = noSlab, begin = 0, length = 0] = index.subarray(at + 3, at + 6)
    const memory = slabs[slab]
    const file = files[slab - slabs.length]
    if (memory === undefined && file === undefined && slab !== noSlab)
      throw new RangeError(`there is no slab ${slab}`)
    if (memory !== undefined && begin + length > memory.length)
      throw new RangeError('a body ends beyond its slab')
    const tag = textAt(at + 1)
    const head = (templateAt: number): string =>
      textAt(templateAt)
        .replace(engineMarks.entityTag, tag)
        .replace(engineMarks.contentLength, String(length))
        .replace(engineMarks.lastModified, textAt(resourceAt + 5))
        .replace(engineMarks.useAsDictionary, textAt(resourceAt + 7))
    const templateAt = templatesAt + 4 * (index[at] ?? Number.NaN)
    return {
      ok: head(templateAt),
      notModified: head(templateAt + 2),
      tag,
      file: file?.path,
      body: memory && Buffer.from(memory).toString('utf8', begin, begin + length),
    }
  }
  return new Map(
    Array.from({ length: resources }, (_, number): [string, TableResource] => {
      const at = 4 + 10 * number
      const [layout = engineNodeChoice, first = 0, own = 0] = index.subarray(at + 2, at + 5)
      return [
        textAt(at),
        {
          layout,
          lastModified: textAt(at + 5),
          hasDeltas: ((index[at + 9] ?? 0) & engineFlags.hasDeltas) > 0,
          hasHints: ((index[at + 9] ?? 0) & engineFlags.hasHints) > 0,
          representations: Array.from({ length: own }, (_each, of) => representation(first + of, at)),
        },
      ]
    }),
  )
}
