import { engineAsks, engineFlags, type EngineTable, noSlab } from '@serve-dist/engine'
import { STATUS_CODES } from 'node:http'
import { codingWeights } from '../protocol/accept-encoding.ts'
import { parseRequestPath } from '../protocol/request-path.ts'
import { selectRepresentation } from '../site/decide.ts'
import { makeNotModifiedAnswer, makeOkAnswer } from '../site/representation-answers.ts'
import type { Answer, Entry, PlainRepresentation, Resource, Site } from '../site/site.ts'
import { collectSlabs } from './collect-slabs.ts'
import { createTextWriter } from './text-writer.ts'

/** What a site answers, as the engine reads it, but for the values of `Accept-Encoding`. */
export interface FlatSite extends Pick<EngineTable, 'text' | 'index' | 'slabs'> {
  /** What a value of `Accept-Encoding`, or its absence, gets: one byte for each layout. */
  readonly choicesFor: (acceptEncoding: string | undefined) => Uint8Array
}

/** Resources between two rests: some milliseconds. */
const resourcesAtOnce = 100
const numbersOfResource = 8
const numbersOfRepresentation = 9

/**
 * Makes what the engine answers of a site: of each resource the heads and bodies that the Node engine would send. What is
 * left out is Node's. It rests now and then, for a thread that has other things to do.
 */
export function* flattenSite(site: Site): Generator<void, FlatSite> {
  const text = createTextWriter()
  /** The codings of resources, in order, by the layout's name. */
  const layouts = new Map<string, readonly PlainRepresentation[]>()
  /** What stands behind the path in the row of a resource, which may have several paths. */
  const rows = new Map<Resource, readonly number[]>()
  const resources: number[] = []
  const representations: number[] = []
  const bodies: PlainRepresentation['bytes']['body'][] = []

  for (const [path, entry] of site.table) {
    if (!isAnswered(site, path, entry)) continue
    let row = rows.get(entry)
    if (row === undefined) {
      row = addResource(entry)
      rows.set(entry, row)
      if (rows.size % resourcesAtOnce === 0) yield
    }
    resources.push(text.add(path), path.length, ...row)
  }

  const { slabs, places } = collectSlabs(bodies)
  const index = new Uint32Array(3 + resources.length + representations.length)
  index.set([resources.length / numbersOfResource, bodies.length, layouts.size])
  index.set(resources, 3)
  index.set(representations, 3 + resources.length)
  for (const [number, place] of places.entries()) {
    index.set(place, 3 + resources.length + number * numbersOfRepresentation + 6)
  }
  return { text: text.written(), index, slabs, choicesFor: choosing([...layouts.values()]) }

  function addResource(resource: Resource): readonly number[] {
    const { representations: inOrder, lastModifiedField = '', deltas } = resource
    const first = bodies.length
    let head = ''
    let begin = 0
    for (const representation of inOrder) {
      const notModified = headOf(makeNotModifiedAnswer(representation, resource))
      const tag = representation.entityTag.replace('W/', '')
      head = headOf(makeOkAnswer(representation, resource))
      begin = text.add(head)
      representations.push(begin, head.length, text.add(notModified), notModified.length)
      representations.push(begin + head.indexOf(tag), tag.length, noSlab, 0, representation.bytes.size)
      bodies.push(representation.bytes.body)
    }
    return [
      layoutOf(inOrder),
      first,
      inOrder.length,
      begin + head.indexOf(lastModifiedField),
      lastModifiedField.length,
      deltas === undefined ? 0 : engineFlags.hasDeltas,
    ]
  }

  function layoutOf(inOrder: readonly PlainRepresentation[]): number {
    const name = inOrder.map(({ coding }) => coding).join()
    if (!layouts.has(name)) layouts.set(name, inOrder)
    return [...layouts.keys()].indexOf(name)
  }
}

/**
 * Whether the engine may answer a path: a resource under the one way to write its path, of which all clients get the same
 * answers, and no others before them.
 */
function isAnswered(site: Site, path: string, entry: Entry): entry is Resource {
  if (entry.kind !== 'resource' || (site.earlyHints && entry.earlyHints.length > 0)) return false
  const parsed = parseRequestPath(path)
  return typeof parsed === 'object' && parsed.path === path
}

/** By itself: its closure keeps what it needs alone. */
function choosing(layouts: readonly (readonly PlainRepresentation[])[]): FlatSite['choicesFor'] {
  return (acceptEncoding) => {
    const weights = codingWeights(acceptEncoding)
    return Uint8Array.from(layouts, (representations) => {
      const selected = selectRepresentation({ representations }, weights)
      return selected === undefined ? engineAsks : representations.findIndex((each) => each === selected)
    })
  }
}

/** As Node writes it, but for what the engine adds. */
function headOf({ status, fields }: Answer): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
  for (let index = 0; index + 1 < fields.length; index += 2)
    head += `${fields[index]}: ${fields[index + 1]}\r\n`
  return head
}
