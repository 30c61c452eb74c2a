import { isSourceMap, mediaTypeOf } from '@serve-dist/manifest'
import { parseRequestPath } from '../protocol/request-path.ts'
import type { RequestFields } from '../protocol/request-fields.ts'
import type { Site } from './site.ts'

/** Media types that pages load as subresources. Routes of an application do not have these types. */
const assetType =
  /^(?:text\/(?:javascript|css)|application\/(?:wasm|vnd\.ms-fontobject)|(?:image|font|audio|video)\/)/

/**
 * Returns whether an unknown path names a script, a style or another asset of another build. An application
 * behind this server could answer it with an HTML page, which breaks the requesting page.
 */
export function isMissingAsset(site: Site, target: string): boolean {
  const path = assetPathOf(site, target)
  return path !== undefined && (path.endsWith('.map') || assetType.test(mediaTypeOf(path)))
}

/**
 * Returns whether a request below the folder of hashed assets names an unknown file of any type. The tab
 * may belong to a deleted build or to one that is not here yet. Source maps do not count: they break no
 * tab.
 */
export function isSkewMiss(
  site: Site,
  { method, target }: Pick<RequestFields, 'method' | 'target'>,
): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  const path = assetPathOf(site, target)
  // Routes of an application have no dot in the last segment.
  return path !== undefined && /\.[^/]+$/.test(path) && !isSourceMap(path) && !site.table.has(path)
}

/**
 * Returns the id of the build whose hashed file `Referer` names: the importing script or the style sheet.
 */
export function buildOfReferer({ table, buildId }: Site, referer: string): string | undefined {
  const parsed = parseRequestPath(referer)
  const entry = typeof parsed === 'string' ? undefined : table.get(parsed.path)
  if (entry?.kind !== 'resource') return undefined
  return entry.buildId ?? (entry.cacheControl.includes('immutable') ? buildId : undefined)
}

/** Returns the percent-encoded path of a target below the folder of hashed assets. */
function assetPathOf({ assetsPath }: Site, target: string): string | undefined {
  if (assetsPath === undefined) return undefined
  const parsed = parseRequestPath(target)
  return typeof parsed !== 'string' && parsed.path.startsWith(assetsPath) ? parsed.path : undefined
}
