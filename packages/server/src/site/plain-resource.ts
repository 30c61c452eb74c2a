import { isPageType, mediaTypeOf } from '@serve-dist/manifest'
import { overridesFor } from './field-rules.ts'
import type { PlainRepresentation, Resource, Site } from './site.ts'

/** A file of one representation that no manifest describes. */
interface PlainFile extends Pick<PlainRepresentation, 'bytes' | 'entityTag'> {
  /** Below the base. */
  readonly path: string
}

/** A resource of identity alone, always to be revalidated. */
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
    // That of a file differs between replicas.
    lastModified: undefined,
    lastModifiedField: undefined,
    cacheControl: 'no-cache',
    overrides: overridesFor(fieldRules, { path, mediaType }, [base + path]),
    links: [],
    earlyHints: [],
  }
}
