import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import { OperatorError } from '@serve-dist/manifest'
import { selectPart } from './select-part.ts'
import type { Site, SiteSummary } from './site.ts'

/**
 * Combines builds with different bases to one site. Each path belongs to the build with the longest base that
 * it begins with. Paths outside all bases belong to the first build.
 *
 * @throws OperatorError if two builds have the same base, or if a file of one build is below the base of another.
 */
export function combineSites(parts: readonly [Site, ...Site[]]): Site {
  const [first] = parts
  const problems = [...findEqualBases(parts), ...findOverlaps(parts)]
  if (problems.length > 0) throw new OperatorError('SD_OPTION_INVALID', problems)
  const root = parts.find(({ base }) => base === '/') ?? first
  const environments = parts.flatMap(({ environment }) => environment ?? [])
  const rules = parts.map(({ rulesDigest = '' }) => rulesDigest).join('\n')
  return {
    ...root,
    parts,
    buildId: digestOf(parts.map(({ buildId }) => buildId)),
    table: new Map(parts.flatMap(({ table }) => [...table])),
    redirects: parts.flatMap(({ redirects }) => redirects),
    // For ambiguous paths.
    basicAuth: parts.find(({ basicAuth }) => basicAuth !== undefined)?.basicAuth,
    health: parts.find(({ health }) => health !== undefined)?.health,
    ...(environments.length > 0 && {
      environment: {
        path: '',
        names: environments.flatMap(({ names }) => names),
        sha256: digestOf(environments.map(({ sha256 }) => sha256)),
      },
    }),
    ...(rules.trim() !== '' && { rulesDigest: digestOf([rules]) }),
    summary: {
      ...root.summary,
      files: sumOf(parts, 'files'),
      pages: sumOf(parts, 'pages'),
      isNotFoundOnly: parts.every(({ summary }) => summary.isNotFoundOnly),
      variants: sumOf(parts, 'variants'),
      bytesInMemory: sumOf(parts, 'bytesInMemory'),
      unlistedFiles: sumOf(parts, 'unlistedFiles'),
      keptBuilds: sumOf(parts, 'keptBuilds'),
      keptFiles: sumOf(parts, 'keptFiles'),
    },
  }
}

function sumOf(parts: readonly Site[], name: Exclude<keyof SiteSummary, 'isNotFoundOnly'>): number {
  return parts.reduce((sum, { summary }) => sum + summary[name], 0)
}

function digestOf(texts: readonly string[]): string {
  return sha256Of(Buffer.from(texts.join('\n'))).slice(0, 32)
}

function findEqualBases(parts: readonly Site[]): readonly string[] {
  return parts.flatMap((part, index) =>
    parts
      .slice(0, index)
      .filter(({ base }) => base === part.base)
      .map(
        ({ directory }) =>
          `${directory} and ${part.directory} have the same base ${part.base}. Build one of them with another base.`,
      ),
  )
}

function findOverlaps(parts: readonly Site[]): readonly string[] {
  return parts.flatMap((part) => {
    const path = [...part.table.keys()].find((each) => selectPart(parts, each).base !== part.base)
    if (path === undefined) return []
    const { base, directory } = selectPart(parts, path)
    return `${part.directory}: ${path} is below the base ${base} of ${directory}. Move the file, or build with another base.`
  })
}
