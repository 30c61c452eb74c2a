import { fieldPairs } from '../protocol/field-pairs.ts'
import { engineMarks, engineStrides } from '@serve-dist/engine'
import { STATUS_CODES } from 'node:http'
import { makeNotModifiedAnswer, makeOkAnswer } from '../site/representation-answers.ts'
import type { Answer, PlainRepresentation, Resource } from '../site/site.ts'
import type { TextWriter } from './text-writer.ts'

/** Resources with the same codings, whose heads differ only in the values of marks. */
interface Kind {
  readonly layout: number
  /** The index of the template of the first representation; the others follow. */
  readonly firstTemplate: number
}

/** The kinds of a site's resources; usually a handful. */
export interface ResourceKinds {
  readonly of: (resource: Resource) => Kind
  /** Returns the representations of each layout. */
  readonly layouts: () => readonly (readonly PlainRepresentation[])[]
  /** The rows of all templates. */
  readonly templates: readonly number[]
  /** The classes of the answers: the 200 and the 304 of each template. */
  readonly classes: readonly number[]
}

/** Longer than any file. */
const anyLength = Number.MAX_SAFE_INTEGER

/** Returns the class by which an answer is counted; absent without counting. */
export type ClassOf = (answer: Answer) => number

/** @param text - receives the templates. */
export function createResourceKinds(text: TextWriter, classOf?: ClassOf): ResourceKinds {
  /** The codings of resources, in order, by their joined names. */
  const layouts = new Map<string, readonly PlainRepresentation[]>()
  const kinds = new Map<string, Kind>()
  const templates: number[] = []
  const classes: number[] = []
  let last: { readonly resource: Resource; readonly kind: Kind } | undefined

  function kindNamed(name: string, resource: Resource): Kind {
    const known = kinds.get(name)
    if (known !== undefined) return known
    const firstTemplate = templates.length / engineStrides.template
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

/** Returns whether two resources certainly have the same kind. Comparing their names takes longer. */
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

/** Returns a key of everything that heads depend on, except the values of marks. */
function nameOf(resource: Resource): string {
  const { mediaType, vary, cacheControl, links, overrides, representations } = resource
  const has = [resource.lastModifiedField !== undefined, resource.useAsDictionary !== undefined]
  const codings = representations.map(({ coding }) => coding)
  return JSON.stringify([mediaType, vary, cacheControl, has, links, [...overrides.values()], codings])
}

/** Creates the 200 and the 304 of the Node engine, with marks instead of values. */
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

/** Formats a head like Node, without the fields that the engine adds. */
function headOf(answer: Answer): string {
  let head = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\n`
  for (const [name, value] of fieldPairs(answer)) head += `${name}: ${value}\r\n`
  return head.replace(String(anyLength), engineMarks.contentLength)
}
