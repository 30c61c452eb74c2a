import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { shortId } from '@serve-dist/foundation/text/short-id'
import type { SiteCounts } from '../site/site.ts'
import type { ReloadOutcome } from './reload-outcome.ts'

export function describeReload(outcome: ReloadOutcome): string {
  const build = shortId(outcome.buildId)
  switch (outcome.status) {
    case 'swapped':
      if (outcome.problems !== undefined)
        return [`now serving build ${build}, but another build is refused:`, ...outcome.problems].join('\n')
      if (outcome.hasNewValues) return `now serving build ${build} with new environment values`
      if (outcome.hasNewRules) return `now serving build ${build} with new rules`
      if (outcome.buildId === outcome.replaced) return `still serving build ${build}${describeKept(outcome)}`
      return `now serving build ${build} (was ${shortId(outcome.replaced)})${describeKept(outcome)}`
    case 'unchanged':
      return `build ${build} is already being served`
    default:
      return [`reload refused${build === '' ? '' : `, still serving ${build}`}:`, ...outcome.problems].join(
        '\n',
      )
  }
}

function describeKept({ keptBuilds, keptFiles }: SiteCounts): string {
  return keptFiles === 0
    ? ''
    : `, with ${pluralize(keptFiles, 'hashed file')} of ${pluralize(keptBuilds, 'earlier build')}`
}
