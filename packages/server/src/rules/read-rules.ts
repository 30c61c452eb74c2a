import type { PolicyRules, RedirectRule, ServingRules } from '@serve-dist/manifest'
import { readConfig, readConfigFile, type ServeDistConfig } from './read-config.ts'

interface RuleFlags extends Pick<ServingRules, 'fallback' | 'health'> {
  readonly config?: string
  readonly csp?: CspMode
  readonly proxy?: readonly RedirectRule[]
}

/** The mode of the policy. The configuration contains its directives. */
export type CspMode = (typeof cspModes)[number]
export const cspModes: readonly ['enforce', 'report-only', 'off'] = ['enforce', 'report-only', 'off']

/** Reads the rules of the configuration. The command line overrides them. */
export async function readRules(folder: string, flags: RuleFlags): Promise<ServingRules> {
  return combine(await readConfig(folder, flags.config), flags)
}

/**
 * Reads the rules like {@link readRules}, and returns a function that reads them again. A module is read only once, because
 * Node caches it.
 */
export async function openRules(folder: string, flags: RuleFlags): Promise<() => Promise<ServingRules>> {
  const { config, path } = await readConfigFile(folder, flags.config)
  const first = combine(config, flags)
  const isModule = path !== undefined && !path.endsWith('.json')
  return async () => (isModule ? first : await readRules(folder, flags))
}

function combine(config: ServeDistConfig, flags: RuleFlags): ServingRules {
  const { fallback, health, csp, proxy } = flags
  return {
    ...config,
    ...(proxy !== undefined && { redirects: [...proxy, ...(config.redirects ?? [])] }),
    ...(fallback !== undefined && { fallback }),
    ...(health !== undefined && { health }),
    ...(csp !== undefined && { csp: withMode(config.csp, csp) }),
  }
}

/** Reads the rules that a server in this folder would use, for commands that inspect its answers. */
export async function readRulesAsServed({
  config,
  proxy,
}: Pick<RuleFlags, 'config' | 'proxy'>): Promise<ServingRules> {
  const csp = cspModes.find((mode) => mode === process.env['CSP'])
  return await readRules(process.cwd(), {
    ...(config !== undefined && { config }),
    ...(proxy !== undefined && { proxy }),
    ...(csp !== undefined && { csp }),
  })
}

function withMode(rule: boolean | PolicyRules | undefined, mode: CspMode): boolean | PolicyRules {
  if (mode === 'off') return false
  return { ...(typeof rule === 'object' && rule), reportOnly: mode === 'report-only' }
}
