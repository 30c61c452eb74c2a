import type { ReloadOutcome } from './open-site-store.ts'

/** What became of a reload, for a person. */
export function describeReload(outcome: ReloadOutcome): string {
  const build = shorten(outcome.buildId)
  switch (outcome.status) {
    case 'swapped':
      if (outcome.hasNewValues) return `now serving build ${build} with other values of its environment`
      return `now serving build ${build} (was ${shorten(outcome.replaced)})`
    case 'unchanged':
      return `build ${build} is already being served`
    default:
      return [`reload refused${build === '' ? '' : `, still serving ${build}`}:`, ...outcome.problems].join(
        '\n',
      )
  }
}

/** Enough to tell builds apart. */
function shorten(buildId: string): string {
  return buildId.slice(0, 12)
}
