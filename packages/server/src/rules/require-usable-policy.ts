import { type Manifest, OperatorError } from '@serve-dist/manifest'
import { type PolicySources, resolvePolicy, type SitePolicy } from '../site/resolve-policy.ts'

/**
 * Returns the policy, if the options enable one.
 *
 * @throws OperatorError that lists the problems with rules and variables. It also rejects manifests of earlier releases:
 * without the hashes of a page, a policy would block the page's own scripts.
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
    `${directory}: the manifest comes from an earlier release without hashes of inline scripts and styles, so csp would block them. Run ${cure} with this release, or disable csp.`,
  )
}
