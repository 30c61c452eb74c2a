import { parseRequestPath } from '../protocol/request-path.ts'
import type { Site } from './site.ts'

/** Returns whether a request target has the path of health checks. The query plays no part. */
export function isHealthPath({ health, table }: Site, target: string): boolean {
  // The table does not contain the path of health checks, and most targets are its keys.
  if (health === undefined || table.has(target)) return false
  const parsed = parseRequestPath(target)
  return typeof parsed !== 'string' && parsed.path === health
}
