import { isPageType, mediaTypeOf } from '@serve-dist/manifest'
import { overridesFor } from './field-rules.ts'
import type { PlainRepresentation, Resource, Site } from './site.ts'

/** A file with one representation that is not in the manifest. */
interface PlainFile extends Pick<PlainRepresentation, 'bytes' | 'entityTag'> {
  /** Below the base. */
  readonly path: string
}

/** Creates a resource with the identity representation only. Clients must always revalidate it. */
export function plainResource(
  { path, bytes, entityTag }: PlainFile,
  fieldRules: Site['fieldRules'],
  base: string,
): Resource {
  const mediaType = mediaTypeOf(path)
  const identity: PlainRepresentation = { coding: 'identity', bytes, entityTag }
  return {
    kind: 'resource',
    path,
    buildId: undefined,
    mediaType,
    isPage: isPageType(mediaType),
    representations: [identity],
    identity,
    vary: undefined,
    useAsDictionary: undefined,
    deltas: undefined,
    // The modification time of this file differs between replicas.
    lastModified: undefined,
    lastModifiedField: undefined,
    cacheControl: 'no-cache',
    overrides: overridesFor(fieldRules, { path, mediaType }, [base + path]),
    links: [],
    earlyHints: [],
  }
}
