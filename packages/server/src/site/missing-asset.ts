import { isSourceMap, mediaTypeOf } from '@serve-dist/manifest'
import { parseRequestPath } from '../protocol/request-path.ts'
import type { RequestFields } from '../protocol/request-fields.ts'
import type { Site } from './site.ts'

/** What a page loads and a bundler names, never a page or data: an application has no such path below the assets. */
const assetType =
  /^(?:text\/(?:javascript|css)|application\/(?:wasm|vnd\.ms-fontobject)|(?:image|font|audio|video)\/)/

/**
 * Whether an unknown path is that of a script, a style or another asset in the folder of hashed assets: one of another
 * build. An application behind the build might answer it with a page, which breaks the page that asked for it.
 */
export function isMissingAsset(site: Site, target: string): boolean {
  const path = assetPathOf(site, target)
  return path !== undefined && (path.endsWith('.map') || assetType.test(mediaTypeOf(path)))
}

/**
 * Whether nobody has what a request asks for in the folder of hashed assets, of whatever type: a tab may be of a build
 * that is gone, or of one that is not here yet. Source maps are asked for by people who debug, and break no tab.
 */
export function isSkewMiss(
  site: Site,
  { method, target }: Pick<RequestFields, 'method' | 'target'>,
): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  const path = assetPathOf(site, target)
  // An application may have routes there; their names have no dot.
  return path !== undefined && /\.[^/]+$/.test(path) && !isSourceMap(path) && !site.table.has(path)
}

/** The build of the hashed file that a `Referer` names: the script that asked for a chunk, the style that asked for a font. */
export function buildOfReferer({ table, buildId }: Site, referer: string): string | undefined {
  const parsed = parseRequestPath(referer)
  const entry = typeof parsed === 'string' ? undefined : table.get(parsed.path)
  if (entry?.kind !== 'resource') return undefined
  return entry.buildId ?? (entry.cacheControl.includes('immutable') ? buildId : undefined)
}

/** The path of a target, percent-encoded, where it lies in the folder of hashed assets. */
function assetPathOf({ assetsPath }: Site, target: string): string | undefined {
  if (assetsPath === undefined) return undefined
  const parsed = parseRequestPath(target)
  return typeof parsed !== 'string' && parsed.path.startsWith(assetsPath) ? parsed.path : undefined
}
