import { contentCodings } from '@serve-dist/manifest'
import { type CodingWeights, codingWeights } from '../protocol/accept-encoding.ts'
import type { ByteRange } from '../protocol/byte-range.ts'
import type { RequestFields } from '../protocol/request-fields.ts'
import { rangeOf, selectDelta, selectRepresentation } from '../site/decide.ts'
import { evaluatePreconditions, ifRangeHolds } from '../site/evaluate-preconditions.ts'
import type { Representation, Resource } from '../site/site.ts'
import { type Explained, type ExplainedStep, say } from './explanation.ts'

/** Steps 4 to 7 of a file, and what they lead to: the functions are those that `decideResource` calls. */
export function explainResource(resource: Resource, request: RequestFields): Explained {
  const { method } = request
  if (method !== 'GET' && method !== 'HEAD') return explainOtherMethod(method, resource)
  const steps: ExplainedStep[] = []
  if (method === 'HEAD') steps.push(say(4, 'HEAD has the fields of GET, and no body', 'Methods: HEAD'))

  const weights = codingWeights(request.acceptEncoding)
  const whole = selectRepresentation(resource, weights)
  const range = weights.identity > 0 ? rangeOf(resource, request, whole) : undefined
  const plain = range === undefined ? whole : resource.identity
  const delta = selectDelta(resource, request, plain)
  const selected = delta ?? plain
  steps.push(explainSelection(resource, request, whole))
  if (request.availableDictionary !== undefined) steps.push(explainDelta(resource, request, delta))
  if (selected === undefined) return { steps, outcome: { status: 406, resource } }
  if (range !== undefined && selected !== whole) {
    steps.push(
      say(
        5,
        'a range is one of identity, so identity is sent',
        'Ranges: GET, one `bytes` range that is there',
      ),
    )
  }

  const status = evaluatePreconditions(request, resource, selected)
  steps.push(...explainConditions(request, resource, selected))
  if (status === 412) return { steps, outcome: { status, resource } }
  if (status === 304) return { steps, outcome: { status, resource, representation: selected } }

  if (request.range !== undefined) {
    steps.push(explainRange(resource, request, { range, whole, weights }))
  }
  if (range === 'unsatisfiable') return { steps, outcome: { status: 416, resource } }
  if (range !== undefined) {
    return { steps, outcome: { status: 206, resource, representation: selected, range } }
  }
  return { steps, outcome: { status: 200, resource, representation: selected } }
}

/** Which representation a client gets, and why none of the others. */
function explainSelection(
  resource: Resource,
  { acceptEncoding }: RequestFields,
  selected: Representation | undefined,
): ExplainedStep {
  const weights = codingWeights(acceptEncoding)
  const all = resource.representations.map((each) => {
    const reason = each === selected ? 'chosen' : reasonAgainst(each, selected, weights)
    return `${each.coding}, ${each.bytes.size} bytes: ${reason} (${weightOf(weights[each.coding])})`
  })
  const missing = contentCodings
    .filter(({ name }) => resource.representations.every(({ coding }) => coding !== name))
    .map(({ name }) => `${name}: the build has no such variant of this file`)
  const wanted = acceptEncoding === undefined ? 'no Accept-Encoding' : `Accept-Encoding: ${acceptEncoding}`
  const row =
    selected === undefined
      ? 'Which representation: Identity refused, nothing else acceptable'
      : (acceptEncoding ?? '') === ''
        ? 'Which representation: … absent, or empty'
        : 'Which representation: `Accept-Encoding`'
  const chosen =
    selected === undefined ? 'no representation is acceptable' : `${selected.coding} is wanted most`
  return { step: 5, text: `${wanted}: ${chosen}`, details: [...all, ...missing], row }
}

/** Whether a dictionary that a client offers is of use, and if not, why. */
function explainDelta(
  { deltas }: Resource,
  { availableDictionary = '', acceptEncoding, range }: RequestFields,
  delta: Representation | undefined,
): ExplainedStep {
  const offer = `Available-Dictionary: ${availableDictionary}`
  if (delta !== undefined) {
    const text = `${offer}: the delta from it, ${delta.coding}, ${delta.bytes.size} bytes`
    return say(
      5,
      text,
      'Deltas: `Available-Dictionary` of a file of an earlier build; `dcz` or `dcb` by name',
    )
  }
  const found = deltas?.byDictionary.get(availableDictionary)
  if (found === undefined) {
    const none = deltas === undefined ? 'there are no deltas of this file' : 'there is no delta from that'
    return say(5, `${offer}: ${none}`, 'Deltas: … malformed, several, or not one of ours')
  }
  if (range !== undefined) return say(5, `${offer}: plays no part beside Range`, 'Deltas: … and a `Range`')
  if (selectRepresentation({ representations: found }, codingWeights(acceptEncoding)) === undefined) {
    const codings = found.map(({ coding }) => coding).join(' or ')
    return say(
      5,
      `${offer}: Accept-Encoding has to name ${codings}`,
      'Deltas: … and no coding for it by name',
    )
  }
  const text = `${offer}: the delta is not smaller, or the page of another origin may not read it`
  return say(5, text, 'Deltas: … for a page of another origin that may not read the file')
}

function reasonAgainst(
  { coding }: Representation,
  selected: Representation | undefined,
  weights: CodingWeights,
): string {
  if (weights[coding] === 0) return 'not accepted'
  return selected !== undefined && weights[coding] === weights[selected.coding]
    ? "as much wanted, but later in the server's order"
    : 'less wanted'
}

/** Weights are ten-thousandths; 1 is what identity has without a name. */
function weightOf(weight: number): string {
  return weight === 1 ? 'not named, acceptable' : `q=${weight / 10_000}`
}

const conditions = [
  {
    name: 'If-Match',
    field: 'ifMatch',
    beside: undefined,
    row: 'Conditions: `If-Match` without our tag (strong comparison; malformed as well)',
  },
  {
    name: 'If-Unmodified-Since',
    field: 'ifUnmodifiedSince',
    beside: 'ifMatch',
    row: 'Conditions: `If-Unmodified-Since` earlier than our time, no `If-Match`',
  },
  {
    name: 'If-None-Match',
    field: 'ifNoneMatch',
    beside: undefined,
    row: 'Conditions: `If-None-Match` with our tag, weak or strong, in a list, or `*`',
  },
  {
    name: 'If-Modified-Since',
    field: 'ifModifiedSince',
    beside: 'ifNoneMatch',
    row: 'Conditions: `If-Modified-Since` not earlier than our time, no `If-None-Match`',
  },
] as const

/** Each condition that was sent, evaluated alone; the first with a status decides (RFC 9110 §13.2.2). */
function explainConditions(
  request: RequestFields,
  resource: Resource,
  selected: Representation,
): ExplainedStep[] {
  const without = Object.fromEntries(conditions.map(({ field }) => [field, undefined]))
  const steps: ExplainedStep[] = []
  for (const { name, field, beside, row } of conditions) {
    const value = request[field]
    if (value === undefined) continue
    const isIgnored = beside !== undefined && request[beside] !== undefined
    const status = evaluatePreconditions({ ...request, ...without, [field]: value }, resource, selected)
    const validators = `ETag ${selected.entityTag}, Last-Modified ${resource.lastModifiedField ?? 'none'}`
    const outcome = status === undefined ? 'goes on' : `answers ${status}`
    const text = isIgnored ? 'plays no part beside the entity tags' : `${outcome} (${validators})`
    steps.push(say(6, `${name}: ${value} ${text}`, row))
    if (!isIgnored && status !== undefined) return steps
  }
  return steps
}

interface FoundRange {
  readonly range: ByteRange | 'unsatisfiable' | undefined
  readonly whole: Representation | undefined
  readonly weights: CodingWeights
}

function explainRange(
  resource: Resource,
  request: RequestFields,
  { range, whole, weights }: FoundRange,
): ExplainedStep {
  const asked = `Range: ${request.range}`
  const { size } = resource.identity.bytes
  if (range === 'unsatisfiable') {
    const row = 'Ranges: First byte at or beyond the size; `bytes=-0`'
    return say(7, `${asked} begins beyond the ${size} bytes`, row)
  }
  if (range !== undefined) {
    const text = `${asked} is bytes ${range.first} to ${range.last} of ${size}`
    return say(7, text, 'Ranges: GET, one `bytes` range that is there')
  }
  if (request.method !== 'GET') return say(7, `${asked} is for GET alone`, 'Ranges: HEAD')
  if (weights.identity === 0) return say(7, `${asked}: identity is refused`, 'Ranges: Identity refused')
  return ifRangeHolds(request.ifRange, resource, whole)
    ? say(7, `${asked} is not one range of bytes`, 'Ranges: Another unit; malformed; last before first')
    : say(
        7,
        `${asked}: If-Range names other bytes`,
        'Ranges: `If-Range` with our strong tag, or exactly our date',
      )
}

/** A method other than GET and HEAD, of a path that is known. */
export function explainOtherMethod(method: string, resource?: Resource): Explained {
  const about = resource === undefined ? {} : { resource }
  if (method !== 'OPTIONS') {
    const step = say(4, `${method} is none of GET, HEAD and OPTIONS`, 'Methods: Any other method, known path')
    return { steps: [step], outcome: { status: 405 } }
  }
  const isOpen = typeof resource?.overrides.get('access-control-allow-origin')?.value === 'string'
  const step = isOpen
    ? say(4, 'a preflight is answered', 'Methods: OPTIONS of a file that other origins may use')
    : say(4, 'OPTIONS names the methods of the path', 'Methods: OPTIONS of a known path, or `*`')
  return { steps: [step], outcome: { status: 204, ...about } }
}

/** A file as the page of a 404: without an acceptable coding, the plain 404 does. */
export function explainNotFoundPage(page: Resource, request: RequestFields): Explained {
  const selected = selectRepresentation(page, codingWeights(request.acceptEncoding))
  const steps = [explainSelection(page, request, selected)]
  return selected === undefined
    ? { steps, outcome: { status: undefined } }
    : { steps, outcome: { status: 404, resource: page, representation: selected } }
}
