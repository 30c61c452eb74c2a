import { mediaTypeOf } from '@serve-dist/manifest'
import { parseRequestPath } from '../protocol/request-path.ts'
import type { Site } from './site.ts'

/** What a page loads and a bundler names, never a page or data: an application has no such path below the assets. */
const assetType =
  /^(?:text\/(?:javascript|css)|application\/(?:wasm|vnd\.ms-fontobject)|(?:image|font|audio|video)\/)/

/**
 * Whether an unknown path is that of a script, a style or another asset in the folder of hashed assets: one of another
 * build. An application behind the build might answer it with a page, which breaks the page that asked for it.
 */
export function isMissingAsset({ assetsPath }: Site, target: string): boolean {
  if (assetsPath === undefined) return false
  const parsed = parseRequestPath(target)
  if (typeof parsed === 'string' || !parsed.path.startsWith(assetsPath)) return false
  return parsed.path.endsWith('.map') || assetType.test(mediaTypeOf(parsed.path))
}
