import type { PolicyRules, ServingRules } from '@serve-dist/manifest'
import { readConfig } from './read-config.ts'

/** What a command line says of how to serve, and the configuration that it names. */
interface RuleFlags extends Pick<ServingRules, 'prefer' | 'fallback' | 'sourceMaps' | 'immutable' | 'cors'> {
  readonly config?: string
  readonly csp?: CspMode
}

/** What becomes of the policy; its directives stand in the configuration. */
export type CspMode = (typeof cspModes)[number]
export const cspModes: readonly ['enforce', 'report-only', 'off'] = ['enforce', 'report-only', 'off']

/** The rules of the configuration and of the command line, which outranks it; globs add up. */
export async function readRules(folder: string, flags: RuleFlags): Promise<ServingRules> {
  const config = await readConfig(folder, flags.config)
  const { prefer, fallback, sourceMaps, csp, immutable = [], cors = [] } = flags
  return {
    ...config,
    ...(prefer !== undefined && { prefer }),
    ...(fallback !== undefined && { fallback }),
    ...(sourceMaps !== undefined && { sourceMaps }),
    immutable: [...(config.immutable ?? []), ...immutable],
    cors: [...(config.cors ?? []), ...cors],
    ...(csp !== undefined && { csp: withMode(config.csp, csp) }),
  }
}

function withMode(rule: boolean | PolicyRules | undefined, mode: CspMode): boolean | PolicyRules {
  if (mode === 'off') return false
  return { ...(typeof rule === 'object' && rule), reportOnly: mode === 'report-only' }
}
