import { buildIdPath, type Manifest } from '@serve-dist/manifest'
import { entityTagOf } from '../protocol/entity-tag.ts'
import { plainResource } from './plain-resource.ts'
import { withoutFreshness } from './representation-answers.ts'
import type { ResolvedServing } from './resolve-serving.ts'
import type { Resource } from './site.ts'

/**
 * Returns the JSON resource that contains the build id. Applications poll it to detect a newer build, which
 * is why rules cannot make it cacheable. All other rules for files apply.
 */
export function buildIdResource(
  { base, buildId }: Pick<Manifest, 'base' | 'buildId'>,
  { fieldRules }: Pick<ResolvedServing, 'fieldRules'>,
): Resource {
  const body = new TextEncoder().encode(JSON.stringify({ buildId }))
  // The body depends only on the build id. An id may be shorter than a digest.
  const entityTag = entityTagOf(buildId.padEnd(64, '0'))
  const file = { path: buildIdPath, bytes: { size: body.length, body }, entityTag }
  const resource = plainResource(file, fieldRules, base)
  return { ...resource, overrides: withoutFreshness(resource.overrides) }
}
