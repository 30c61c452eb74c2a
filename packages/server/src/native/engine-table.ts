import {
  engineNodeChoice,
  type EngineFile,
  engineFlags,
  engineRuleUnit,
  engineStrides,
  type EngineTable,
  noSlab,
} from '@serve-dist/engine'
import { keptListPath } from '@serve-dist/manifest'
import { providerOf } from '../files/file-provider.ts'
import { isKeptOpen } from '../files/kept-file.ts'
import { codingWeights } from '../protocol/accept-encoding.ts'
import { parseRequestPath } from '../protocol/request-path.ts'
import { selectRepresentation } from '../site/decide.ts'
import { dependsOnQuery } from '../site/redirects.ts'
import { savedBytesOf } from '../site/representation-answers.ts'
import { isExceptedPath } from '../site/is-excepted-path.ts'
import type { BasicAuth, Entry, PlainRepresentation, Resource, Site, StreamedBytes } from '../site/site.ts'
import { createSlabCollector } from './collect-slabs.ts'
import { type ClassOf, createResourceKinds } from './resource-kinds.ts'
import { createTextWriter } from './text-writer.ts'

/** The answers of a site in the format of the engine, without the values of `Accept-Encoding`. */
export interface FlatSite extends Omit<EngineTable, 'codings' | 'choices'> {
  /** Returns the choice for a value of `Accept-Encoding`, or for its absence: one byte for each layout. */
  readonly choicesFor: (acceptEncoding: string | undefined) => Uint8Array
  /** The rules that protect resources. The engine counts them from 1. */
  readonly rules: readonly BasicAuth[]
}

/** 100 resources take less than a millisecond. */
const resourcesAtOnce = 100

/**
 * Converts a site to the format of the engine: for each resource the heads and bodies that Node would send.
 * Node answers all other paths. Yields every 100 resources, so that the event loop can run.
 */
export function* flattenSite(site: Site, classOf?: ClassOf): Generator<void, FlatSite> {
  const text = createTextWriter()
  const dates = new Map<string, number>()
  const kinds = createResourceKinds(text, classOf)
  /** The first row of a page with several paths. */
  const rows = new Map<Resource, number>()
  const most = countRows(site)
  const resources = new Uint32Array(most.resources * engineStrides.resource)
  const representations = new Uint32Array(most.representations * engineStrides.representation)
  const bodies = createSlabCollector(most.representations)
  const files: EngineFile[] = []
  /** Indexes of the representations that `files` belongs to. */
  const streamed: number[] = []
  const saved = classOf && new Float64Array(most.representations)
  const rules = (site.parts ?? [site]).flatMap(({ basicAuth }) => basicAuth ?? [])
  let [count, seen] = [0, 0]

  for (const [part, path, entry] of entriesOf(site)) {
    seen += 1
    if (seen % resourcesAtOnce === 0) yield
    if (!isAnswered(part, path, entry)) continue
    const at = count * engineStrides.resource
    const row = entry.isPage ? rows.get(entry) : undefined
    if (row === undefined) {
      if (entry.isPage) rows.set(entry, at)
      addResource(entry, at)
    } else {
      resources.copyWithin(at, row, row + engineStrides.resource)
    }
    resources[at] = text.add(path)
    resources[at + 1] = path.length
    const { basicAuth } = part
    const rule = basicAuth === undefined || isExceptedPath(basicAuth, path) ? 0 : 1 + rules.indexOf(basicAuth)
    resources[at + 9] = flagsOf(entry) + engineRuleUnit * rule
    count += 1
  }

  const { slabs, places } = yield* bodies.collect()
  for (const [file, number] of streamed.entries()) places[2 * number] = slabs.length + file
  const layouts = kinds.layouts()
  const parts = [
    [count, bodies.count(), layouts.length, kinds.templates.length / engineStrides.template],
    resources.subarray(0, count * engineStrides.resource),
    representations.subarray(0, bodies.count() * engineStrides.representation),
    kinds.templates,
  ]
  const representationsAt = (parts[0]?.length ?? 0) + (parts[1]?.length ?? 0)
  const index = joined(parts)
  for (let number = 0, at = representationsAt + 3; number < bodies.count(); number += 1) {
    index[at] = places[2 * number] ?? noSlab
    index[at + 1] = places[2 * number + 1] ?? 0
    at += engineStrides.representation
  }
  const { classes } = kinds
  return {
    text: text.written(),
    index,
    slabs,
    files,
    choicesFor: choosing(layouts),
    rules,
    ...(saved && { classes: Uint8Array.from(classes), saved: saved.subarray(0, bodies.count()) }),
  }

  /** Writes the row of a resource, except its path. */
  function addResource(resource: Resource, at: number): void {
    const { representations: inOrder } = resource
    const { lastModifiedField = '', useAsDictionary = '' } = resource
    const { layout, firstTemplate } = kinds.of(resource)
    resources[at + 2] = layout
    resources[at + 3] = bodies.count()
    resources[at + 4] = inOrder.length
    resources[at + 5] = dateAt(lastModifiedField)
    resources[at + 6] = lastModifiedField.length
    resources[at + 7] = text.add(useAsDictionary)
    resources[at + 8] = useAsDictionary.length
    inOrder.forEach((representation, place) => {
      const { bytes, entityTag } = representation
      const row = bodies.count() * engineStrides.representation
      representations[row] = firstTemplate + place
      representations[row + 1] = text.add(entityTag)
      representations[row + 2] = entityTag.length
      const { size } = bytes
      representations[row + 5] = size
      const body = size > longestBody ? undefined : bytes.body
      if (bytes.body === undefined && size <= longestBody && isStreamed(bytes)) {
        streamed.push(bodies.count())
        files.push(fileOf(bytes))
      }
      if (saved !== undefined) saved[bodies.count()] = savedBytesOf(resource, representation).savedBytes ?? 0
      bodies.add(body)
    })
  }

  /** Most files of a build have the same date. */
  function dateAt(lastModified: string): number {
    const begin = dates.get(lastModified) ?? text.add(lastModified)
    dates.set(lastModified, begin)
    return begin
  }
}

/** Yields the paths of a site, each with the build that it belongs to. */
function* entriesOf(site: Site): Generator<readonly [Site, string, Entry]> {
  for (const part of site.parts ?? [site]) {
    for (const [path, entry] of part.table) yield [part, path, entry]
  }
}

function flagsOf({ deltas, earlyHints }: Resource): number {
  return (
    (deltas === undefined ? 0 : engineFlags.hasDeltas) | (earlyHints.length === 0 ? 0 : engineFlags.hasHints)
  )
}

/** The largest body length that fits into the table. */
const longestBody = 0xff_ff_ff_ff

/** Returns the maximum number of rows. */
function countRows({ table }: Site): { resources: number; representations: number } {
  let representations = 0
  for (const entry of table.values())
    if (entry.kind === 'resource') representations += entry.representations.length
  return { resources: table.size, representations }
}

function joined(parts: readonly ArrayLike<number>[]): Uint32Array {
  const all = new Uint32Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/** Paths that need no parsing because they have only one spelling; nearly all paths of a build. */
const plainPath = /^(?:\/[\w~-][\w.~-]*)+$/

/**
 * Returns whether the engine may answer a path: the path is in canonical form, all clients get the same
 * answers, and no 103 precedes them. Node answers the list of kept files, which is made at its first request.
 */
function isAnswered(site: Site, path: string, entry: Entry): entry is Resource {
  if (
    entry.kind !== 'resource' ||
    entry.path === keptListPath ||
    (site.earlyHints && entry.earlyHints.length > 0)
  )
    return false
  // The engine ignores the query.
  if (dependsOnQuery(site.redirects, path)) return false
  if (plainPath.test(path)) return true
  const parsed = parseRequestPath(path)
  return typeof parsed === 'object' && parsed.path === path
}

/** Returns whether the engine may read a file: it stays open, and no cache counts its uses. */
function isStreamed(bytes: StreamedBytes): boolean {
  return isKeptOpen(bytes) && providerOf(bytes) === undefined
}

function fileOf({ file, fingerprint, changeTime, sha256 }: StreamedBytes): EngineFile {
  return { path: file, state: `${fingerprint}:${changeTime}`, ...(sha256 !== undefined && { sha256 }) }
}

/** A separate function, so that its closure does not keep the whole site alive. */
function choosing(layouts: readonly (readonly PlainRepresentation[])[]): FlatSite['choicesFor'] {
  return (acceptEncoding) => {
    const weights = codingWeights(acceptEncoding)
    return Uint8Array.from(layouts, (representations) => {
      const selected = selectRepresentation({ representations }, weights)
      return selected === undefined
        ? engineNodeChoice
        : representations.findIndex((each) => each === selected)
    })
  }
}
