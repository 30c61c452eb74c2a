import { OperatorError, type ServingRules } from '@serve-dist/manifest'
import type { BasicAuth } from '../site/site.ts'
import type { VariableReader } from './variable-reader.ts'
import { type Credentials, parseCredentials } from './credentials.ts'

/** Credentials are not part of the site, because a site is plain data that programs print and copy. */
const credentials = new WeakMap<BasicAuth, Credentials>()

/** Returns the users of a protected site. A copy of a site has no users, so every request is rejected. */
export function credentialsOf(rule: BasicAuth): Credentials {
  return credentials.get(rule) ?? new Map()
}

/**
 * Resolves the strongest rule for basic authentication.
 *
 * @param sources - all sources of rules, the weakest first.
 * @throws OperatorError if the variable is missing or has another form. It never contains the value.
 */
export function resolveBasicAuth(
  sources: readonly ServingRules[],
  readVariable: VariableReader,
  needsEnvironment: boolean,
): BasicAuth | undefined {
  const rule = sources.findLast(({ basicAuth }) => basicAuth !== undefined)?.basicAuth
  if (rule === undefined || rule === null) return undefined
  const { env, except = [] } = rule
  const resolved: BasicAuth = { except }
  const text = readVariable(env)
  const { users, problems } =
    text === undefined || text === ''
      ? { users: new Map(), problems: ['is not set'] }
      : parseCredentials(text)
  if (problems.length > 0 && needsEnvironment) {
    throw new OperatorError(
      'SD_ENVIRONMENT_INVALID',
      problems.map((problem) => `basicAuth: the variable ${env}: ${problem}`),
    )
  }
  credentials.set(resolved, users)
  return resolved
}

/** Rejects a protected site, for hosts that do not ask for credentials. */
export function refuseBasicAuth({ basicAuth }: { readonly basicAuth: BasicAuth | undefined }): void {
  if (basicAuth === undefined) return
  throw new OperatorError(
    'SD_OPTION_INVALID',
    'basicAuth: only serve() and the command ask for credentials. Use the authentication of your host, and set basicAuth: null.',
  )
}

/** Describes a reload or a new worker that has no password although the running server has one. */
export const removedBasicAuth =
  'basicAuth: the new configuration does not have it, but the running one does. Add it again, or restart to remove basicAuth.'

/** Rejects a reload that would remove the password of a running server, for example because a file was deleted. */
export function refuseRemovedBasicAuth(
  current: { readonly basicAuth: BasicAuth | undefined },
  next: { readonly basicAuth: BasicAuth | undefined },
): void {
  if (current.basicAuth === undefined || next.basicAuth !== undefined) return
  throw new OperatorError('SD_OPTION_INVALID', removedBasicAuth)
}
