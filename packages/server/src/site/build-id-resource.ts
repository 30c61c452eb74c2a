import { buildIdPath, type Manifest, mediaTypeOf } from '@serve-dist/manifest'
import { entityTagOf } from '../protocol/entity-tag.ts'
import { overridesFor } from './field-rules.ts'
import { withoutFreshness } from './representation-answers.ts'
import type { ResolvedServing } from './resolve-serving.ts'
import type { PlainRepresentation, Resource } from './site.ts'

/**
 * The JSON that names the build, for applications that ask whether there is a newer one. Rules give it fields as they do to
 * files; whoever kept it would never see another build, so that it is always revalidated.
 */
export function buildIdResource(
  { base, buildId }: Pick<Manifest, 'base' | 'buildId'>,
  { fieldRules }: Pick<ResolvedServing, 'fieldRules'>,
): Resource {
  const path = buildIdPath
  const mediaType = mediaTypeOf(path)
  const body = new TextEncoder().encode(JSON.stringify({ buildId }))
  const identity: PlainRepresentation = {
    coding: 'identity',
    bytes: { size: body.length, body },
    // The body is the id, in a form that never changes; an id may be shorter than a digest.
    entityTag: entityTagOf(buildId.padEnd(64, '0')),
  }
  return {
    kind: 'resource',
    path,
    buildId: undefined,
    mediaType,
    isPage: false,
    representations: [identity],
    identity,
    vary: undefined,
    useAsDictionary: undefined,
    deltas: undefined,
    lastModified: undefined,
    lastModifiedField: undefined,
    cacheControl: 'no-cache',
    overrides: withoutFreshness(overridesFor(fieldRules, { path, mediaType }, [base + path])),
    links: [],
    earlyHints: [],
  }
}
