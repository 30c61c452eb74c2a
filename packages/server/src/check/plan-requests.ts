import { createHash } from 'node:crypto'
import { isSourceMap } from '@serve-dist/manifest'
import { pageUrls } from '../site/page-urls.ts'
import { encodePath } from '../protocol/request-path.ts'
import type { Resource, Site } from '../site/site.ts'

/** A file to ask a site for. */
export interface Target {
  readonly resource: Resource
  /** Percent-encoded, below the path where the build stands. */
  readonly name: string
  /** Whether each server makes its own bytes. */
  readonly isRuntime: boolean
}

/** What will be asked. */
export interface RequestPlan {
  /** Pages first. */
  readonly targets: readonly Target[]
  /** Files of the build that could be asked for. */
  readonly files: number
  /** At most. */
  readonly requests: number
  /** Of the bodies, at most. */
  readonly bytes: number
}

/** Files beside pages, unless all are wanted. */
const maximumFiles = 50

/**
 * Chooses what to ask for: all pages, and of the other files those that cost most when they are wrong. Half of the
 * places go to hashed files, largest first; the other half to what chance finds among the rest, the same for the same
 * build.
 */
export function planRequests(site: Site, { all }: { readonly all: boolean }): RequestPlan {
  const targets = [...site.files.values()].flatMap((resource): Target[] => {
    const name = encodePath(pageUrls(resource.path).at(-1) ?? resource.path)
    // A rule may have put something else in its place. Source maps may be denied, or lie elsewhere: no visitor asks.
    const isAsked = site.table.get(site.base + name) === resource && !isSourceMap(resource.path)
    return isAsked ? [{ resource, name, isRuntime: resource.path === site.environment?.path }] : []
  })
  // The front page is the first: where it does not come, nothing else is asked for.
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

/** For each file: plain, in each coding, as a browser asks, once more with its validator, and with its dictionary. */
function requestsOf({ resource }: Target): number {
  return resource.representations.length + (isHashed(resource) ? 3 : 2)
}

/** Tries of each of two files, to meet several replicas. */
export const replicaAttempts = 6

/** Pages to ask for again behind a cache: what one page shows, all do. */
export const maximumAgedPages = 3

/** The first request, a script that is not there, the tries, pages again. */
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

/** Whether a file never changes under its name. */
export function isHashed({ cacheControl }: Resource): boolean {
  return cacheControl.includes('immutable')
}
