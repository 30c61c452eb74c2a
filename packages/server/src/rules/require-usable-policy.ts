import { type Manifest, OperatorError } from '@serve-dist/manifest'
import { type PolicySources, resolvePolicy, type SitePolicy } from '../site/resolve-policy.ts'

/**
 * The policy where somebody wants one.
 *
 * @throws OperatorError that lists all that is wrong with its rules and its variables, or says that the build is too old:
 * a policy without the hashes of a page would block the page's own scripts.
 */
export function requireUsablePolicy(
  { directory, cure }: { readonly directory: string; readonly cure: string },
  manifest: Manifest,
  { needsEnvironment, ...sources }: PolicySources & { readonly needsEnvironment: boolean },
): SitePolicy | undefined {
  const { policy, problems, environmentProblems } = resolvePolicy(manifest, sources)
  if (policy === undefined) return undefined
  if (problems.length > 0) throw new OperatorError('SD_OPTION_INVALID', problems)
  if (needsEnvironment && environmentProblems.length > 0)
    throw new OperatorError('SD_ENVIRONMENT_INVALID', environmentProblems)
  if (manifest.policy !== undefined) return policy
  throw new OperatorError(
    'SD_MANIFEST_INVALID',
    `${directory}: an earlier release described this build, without the hashes of its inline scripts and styles, so csp would block them: run ${cure} with this release, or leave out csp`,
  )
}
