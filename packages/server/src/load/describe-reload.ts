import type { ReloadOutcome } from './open-site-store.ts'

/** What became of a reload, for a person. */
export function describeReload(outcome: ReloadOutcome): string {
  switch (outcome.status) {
    case 'swapped':
      return `build ${shorten(outcome.buildId)} is served now, in the place of ${shorten(outcome.replaced)}`
    case 'unchanged':
      return `the build that is there is served already: ${shorten(outcome.buildId)}`
    case 'refused': {
      const servedOn = outcome.buildId === '' ? '' : `, ${shorten(outcome.buildId)} is served on`
      return [`the new build is refused${servedOn}:`, ...outcome.problems].join('\n')
    }
    default:
      throw new TypeError(`no such outcome: ${String(outcome satisfies never)}`)
  }
}

/** Enough to tell builds apart. */
function shorten(buildId: string): string {
  return buildId.slice(0, 12)
}
