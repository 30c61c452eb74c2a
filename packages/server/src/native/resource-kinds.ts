import { fieldPairs } from '../protocol/field-pairs.ts'
import { engineMarks } from '@serve-dist/engine'
import { STATUS_CODES } from 'node:http'
import { makeNotModifiedAnswer, makeOkAnswer } from '../site/representation-answers.ts'
import type { Answer, PlainRepresentation, Resource } from '../site/site.ts'
import type { TextWriter } from './text-writer.ts'

/** What resources have in common of which the heads differ by the values of marks alone, and that have the same codings. */
interface Kind {
  readonly layout: number
  /** That of the first representation; the next ones follow. */
  readonly firstTemplate: number
}

/** The kinds of resources that a site has: a handful. */
export interface ResourceKinds {
  readonly of: (resource: Resource) => Kind
  /** Representations of each layout. */
  readonly layouts: () => readonly (readonly PlainRepresentation[])[]
  /** The rows of templates, one behind another. */
  readonly templates: readonly number[]
  /** The classes of their answers, of each the 200 and the 304. */
  readonly classes: readonly number[]
}

/** Longer than any file. */
const anyLength = Number.MAX_SAFE_INTEGER
/** The length of a row. */
export const numbersOfTemplate = 4

/** The class that answers are counted by; absent where nobody counts. */
export type ClassOf = (answer: Answer) => number

/** @param text - where the templates are written. */
export function createResourceKinds(text: TextWriter, classOf?: ClassOf): ResourceKinds {
  /** The codings of resources, in order, by their names. */
  const layouts = new Map<string, readonly PlainRepresentation[]>()
  const kinds = new Map<string, Kind>()
  const templates: number[] = []
  const classes: number[] = []
  let last: { readonly resource: Resource; readonly kind: Kind } | undefined

  function kindNamed(name: string, resource: Resource): Kind {
    const known = kinds.get(name)
    if (known !== undefined) return known
    const firstTemplate = templates.length / numbersOfTemplate
    for (const { coding } of resource.representations) {
      const answers = markedAnswers(resource, coding)
      const [ok = '', notModified = ''] = answers.map(headOf)
      if (classOf !== undefined) classes.push(...answers.map(classOf))
      templates.push(text.add(ok), ok.length, text.add(notModified), notModified.length)
    }
    const kind = { layout: layoutOf(resource.representations), firstTemplate }
    kinds.set(name, kind)
    return kind
  }

  function layoutOf(inOrder: readonly PlainRepresentation[]): number {
    const name = inOrder.map(({ coding }) => coding).join()
    if (!layouts.has(name)) layouts.set(name, inOrder)
    return [...layouts.keys()].indexOf(name)
  }

  return {
    of(resource) {
      if (last === undefined || !areAlike(last.resource, resource))
        last = { resource, kind: kindNamed(nameOf(resource), resource) }
      return last.kind
    },
    layouts: () => [...layouts.values()],
    templates,
    classes,
  }
}

/** Whether two resources are of one kind; false also where only their names can say, which take longer to make. */
function areAlike(one: Resource, other: Resource): boolean {
  return (
    one.mediaType === other.mediaType &&
    one.vary === other.vary &&
    one.cacheControl === other.cacheControl &&
    (one.lastModifiedField === undefined) === (other.lastModifiedField === undefined) &&
    (one.useAsDictionary === undefined) === (other.useAsDictionary === undefined) &&
    one.links.length + other.links.length + one.overrides.size + other.overrides.size === 0 &&
    one.representations.length === other.representations.length &&
    one.representations.every(({ coding }, place) => coding === other.representations[place]?.coding)
  )
}

/** All that heads are made of, but for the values of marks. */
function nameOf(resource: Resource): string {
  const { mediaType, vary, cacheControl, links, overrides, representations } = resource
  const has = [resource.lastModifiedField !== undefined, resource.useAsDictionary !== undefined]
  const codings = representations.map(({ coding }) => coding)
  return JSON.stringify([mediaType, vary, cacheControl, has, links, [...overrides.values()], codings])
}

/** The 200 and the 304 that the Node engine sends, with a mark in the place of each value. */
function markedAnswers(resource: Resource, coding: PlainRepresentation['coding']): readonly Answer[] {
  const marked: Resource = {
    ...resource,
    lastModifiedField: resource.lastModifiedField && engineMarks.lastModified,
    useAsDictionary: resource.useAsDictionary && engineMarks.useAsDictionary,
  }
  const bytes = { size: anyLength, body: new Uint8Array(0) }
  const representation = { coding, bytes, entityTag: engineMarks.entityTag }
  return [makeOkAnswer(representation, marked), makeNotModifiedAnswer(representation, marked)]
}

/** As Node writes it, but for what the engine adds. */
function headOf(answer: Answer): string {
  let head = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\n`
  for (const [name, value] of fieldPairs(answer)) head += `${name}: ${value}\r\n`
  return head.replace(String(anyLength), engineMarks.contentLength)
}
