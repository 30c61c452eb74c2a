import type { Site } from '../../../src/site/site.ts'
import type { ScriptVocabulary } from './random-script.ts'

/** Returns the facts of a site and of earlier sites. */
export function vocabularyOf(
  { table, assetsPath }: Site,
  more: Partial<ScriptVocabulary> = {},
): ScriptVocabulary {
  const resources = [...table.values()].filter((entry) => entry.kind === 'resource')
  const representations = resources.flatMap((resource) => resource.representations)
  return {
    dictionaries: ['x'],
    hasApplication: false,
    ...more,
    targets: [...(more.targets ?? ['/']), ...table.keys()],
    assets: assetsPath ?? '/assets/',
    entityTags: ['"first"', ...representations.map(({ entityTag }) => entityTag)],
    sizes: [0, ...resources.map(({ identity }) => identity.bytes.size)],
    lastModified: resources[0]?.lastModified ?? 0,
  }
}
