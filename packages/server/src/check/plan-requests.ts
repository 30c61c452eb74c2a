import { createHash } from 'node:crypto'
import { isSourceMap } from '@serve-dist/manifest'
import { pageUrls } from '../site/page-urls.ts'
import { encodePath } from '../protocol/request-path.ts'
import type { Resource, Site } from '../site/site.ts'

export interface Target {
  readonly resource: Resource
  /** The percent-encoded path below the path of the build. */
  readonly name: string
  /** Whether each server generates its own bytes. */
  readonly isRuntime: boolean
}

export interface RequestPlan {
  readonly targets: readonly Target[]
  /** The number of files that could be requested. */
  readonly files: number
  readonly requests: number
  readonly bytes: number
}

const maximumFiles = 50

/**
 * Plans requests for all pages and a selection of other files. Half of the selection are the largest hashed files. The
 * other half is drawn from the rest, and is always the same for the same build.
 */
export function planRequests(site: Site, { all }: { readonly all: boolean }): RequestPlan {
  const targets = [...site.files.values()].flatMap((resource): Target[] => {
    const name = encodePath(pageUrls(resource.path).at(-1) ?? resource.path)
    // A rule may redirect or replace the path. Source maps may be denied or stored elsewhere, and visitors do not request them.
    const isAsked = site.table.get(site.base + name) === resource && !isSourceMap(resource.path)
    return isAsked ? [{ resource, name, isRuntime: resource.path === site.environment?.path }] : []
  })
  // The home page is first: if it fails, the check stops.
  const pages = targets
    .filter(({ resource }) => resource.isPage)
    .toSorted((a, b) => Number(isFrontPage(b)) - Number(isFrontPage(a)))
  const others = targets.filter(({ resource }) => !resource.isPage)
  const chosen = [...pages, ...(all ? others : chooseFiles(others, site.buildId))]
  return {
    targets: chosen,
    files: targets.length,
    requests: chosen.reduce((sum, target) => sum + requestsOf(target), requestsAround),
    bytes: chosen.reduce((sum, target) => sum + bytesOf(target), 0),
  }
}

function isFrontPage({ resource }: Target): boolean {
  return resource.path === 'index.html'
}

/** Returns the number of requests: identity, each coding, a browser, its validator and its dictionary. */
function requestsOf({ resource }: Target): number {
  return resource.representations.length + (isHashed(resource) ? 3 : 2)
}

/** The number of requests for each of two files, to reach several replicas. */
export const replicaAttempts = 6

/** The number of pages to request again behind a cache, where all pages behave alike. */
export const maximumAgedPages = 3

/** The first request, the missing script, the replica requests, and the aged pages. */
const requestsAround = 1 + 1 + 2 * replicaAttempts + maximumAgedPages

function bytesOf({ resource }: Target): number {
  const sizes = resource.representations.map(({ bytes }) => bytes.size)
  return sizes.reduce((sum, size) => sum + size, (isHashed(resource) ? 2 : 1) * Math.min(...sizes))
}

function chooseFiles(targets: readonly Target[], seed: string): readonly Target[] {
  const weight = ({ resource }: Target): number =>
    (isHashed(resource) ? 1e15 : 0) + resource.identity.bytes.size
  const heaviest = targets.toSorted((a, b) => weight(b) - weight(a))
  const first = heaviest.slice(0, maximumFiles / 2)
  const draw = ({ name }: Target): string => createHash('sha256').update(seed).update(name).digest('hex')
  const drawn = heaviest
    .slice(maximumFiles / 2)
    .map((target) => ({ target, lot: draw(target) }))
    .toSorted((a, b) => (a.lot < b.lot ? -1 : 1))
  return [...first, ...drawn.slice(0, maximumFiles / 2).map(({ target }) => target)]
}

/** Whether the content of a file never changes under its name. */
export function isHashed({ cacheControl }: Resource): boolean {
  return cacheControl.includes('immutable')
}
