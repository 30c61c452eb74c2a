import { isoSeconds } from '@serve-dist/foundation/text/iso-seconds'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import {
  countListParts,
  isCarried,
  type KeptList,
  keptListPath,
  largestKeptList,
  type ListedBuild,
  type ListedFile,
  type ManifestFile,
  mostListParts,
} from '@serve-dist/manifest'
import { entityTagOf } from '../protocol/entity-tag.ts'
import { encodePath } from '../protocol/request-path.ts'
import { isKeptFile, type KeptBuild } from './kept-build.ts'
import { plainResource } from './plain-resource.ts'
import { withoutFreshness } from './representation-answers.ts'
import type { ResolvedServing } from './resolve-serving.ts'
import type { PlainRepresentation, Resource, Site } from './site.ts'

/** The parts of a site with a list of hashed files. */
export interface ListedSite {
  readonly current: KeptBuild
  readonly kept: readonly KeptBuild[]
  readonly serving: ResolvedServing
  /** Returns the complete table, in which rules may hide files. */
  readonly table: () => Site['table']
}

/**
 * Returns the JSON resource that lists the hashed files of a site, for `serve-dist carry`. The list is made at the first
 * request, because most sites never need it.
 */
export function keptListResource(site: ListedSite): Resource {
  const { current, serving } = site
  const file = { path: keptListPath, bytes: { size: 0, body: new Uint8Array() }, entityTag: '' }
  const resource = plainResource(file, serving.fieldRules, current.manifest.base)
  let made: Pick<PlainRepresentation, 'bytes' | 'entityTag'> | undefined
  const identity: PlainRepresentation = {
    coding: 'identity',
    get bytes() {
      return (made ??= makeList(site)).bytes
    },
    get entityTag() {
      return (made ??= makeList(site)).entityTag
    },
  }
  const overrides = withoutFreshness(resource.overrides)
  return { ...resource, identity, representations: [identity], overrides }
}

function makeList({
  current,
  kept,
  serving,
  table,
}: ListedSite): Pick<PlainRepresentation, 'bytes' | 'entityTag'> {
  const { base } = current.manifest
  const listed = (build: KeptBuild): ListedBuild => {
    const { manifest, stored, superseded } = build
    const isAnswered = (path: string): boolean => {
      const entry = table().get(encodePath(base + path))
      const buildId = build === current ? undefined : manifest.buildId
      return entry?.kind === 'resource' && entry.path === path && entry.buildId === buildId
    }
    const files = manifest.files.filter(
      (file) => isKeptFile(build, file, serving) && isCarried(file.path) && isAnswered(file.path),
    )
    return {
      id: manifest.buildId,
      ...(superseded !== undefined && { superseded: isoSeconds(superseded) }),
      files: files.map((file) => listedFile(file, stored)),
    }
  }
  const builds = [current, ...kept.filter(({ manifest }) => manifest.base === base)]
  const newest: ListedBuild[] = []
  const none = JSON.stringify({ version: 1, builds: [] } satisfies KeptList)
  let size = none.length
  let parts = countListParts(none)
  for (const build of builds.map(listed)) {
    const json = JSON.stringify(build)
    size += Buffer.byteLength(json) + 1
    parts += countListParts(json)
    // `carry` would reject the whole list, so the oldest builds are left out.
    if (newest.length > 0 && (size > largestKeptList || parts > mostListParts)) break
    newest.push(build)
  }
  const body = new TextEncoder().encode(JSON.stringify({ version: 1, builds: newest } satisfies KeptList))
  return { bytes: { size: body.length, body }, entityTag: entityTagOf(sha256Of(body)) }
}

function listedFile(
  { path, stem, size, sha256, worker, variants }: ManifestFile,
  stored: KeptBuild['stored'],
): ListedFile {
  return {
    path,
    ...(stem !== undefined && { stem }),
    size,
    sha256,
    ...(worker && { worker }),
    variants: variants.filter((variant) => stored.has(variant)),
  }
}
