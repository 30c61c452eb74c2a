import { buildIdPath, type Manifest } from '@serve-dist/manifest'
import { entityTagOf } from '../protocol/entity-tag.ts'
import { plainResource } from './plain-resource.ts'
import { withoutFreshness } from './representation-answers.ts'
import type { ResolvedServing } from './resolve-serving.ts'
import type { Resource } from './site.ts'

/**
 * The JSON that names the build, for applications that ask whether there is a newer one. Rules give it fields as they do to
 * files; whoever kept it would never see another build, so that it is always revalidated.
 */
export function buildIdResource(
  { base, buildId }: Pick<Manifest, 'base' | 'buildId'>,
  { fieldRules }: Pick<ResolvedServing, 'fieldRules'>,
): Resource {
  const body = new TextEncoder().encode(JSON.stringify({ buildId }))
  // The body is the id, in a form that never changes; an id may be shorter than a digest.
  const entityTag = entityTagOf(buildId.padEnd(64, '0'))
  const file = { path: buildIdPath, bytes: { size: body.length, body }, entityTag }
  const resource = plainResource(file, fieldRules, base)
  return { ...resource, overrides: withoutFreshness(resource.overrides) }
}
