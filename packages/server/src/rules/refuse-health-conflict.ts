import { OperatorError } from '@serve-dist/manifest'
import { matchRedirect } from '../site/redirects.ts'
import type { Site } from '../site/site.ts'

/**
 * Rejects a site that has something else at the path of health checks. Rules with a wildcard may match it.
 *
 * @throws OperatorError that names the path.
 */
export function refuseHealthConflict({ health, table, redirects }: Site): void {
  if (health === undefined) return
  const exact = redirects.filter(({ form }) => form.length === 1)
  if (matchRedirect(exact, health) !== undefined)
    refuse(`a redirect rule has the path ${health}. Choose another path, or remove the rule.`)
  if (table.has(health)) refuse(`the build has ${health}. Choose another path.`)
}

function refuse(problem: string): never {
  throw new OperatorError('SD_OPTION_INVALID', `health: ${problem}`)
}
