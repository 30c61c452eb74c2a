import type { PolicyRules, ServingRules } from '@serve-dist/manifest'
import { readConfig } from './read-config.ts'

/** What a command line says of how to serve, and the configuration that it names. */
interface RuleFlags extends Pick<ServingRules, 'fallback'> {
  readonly config?: string
  readonly csp?: CspMode
}

/** What becomes of the policy; its directives stand in the configuration. */
export type CspMode = (typeof cspModes)[number]
export const cspModes: readonly ['enforce', 'report-only', 'off'] = ['enforce', 'report-only', 'off']

/** The rules of the configuration and of the command line, which outranks it. */
export async function readRules(folder: string, flags: RuleFlags): Promise<ServingRules> {
  const config = await readConfig(folder, flags.config)
  const { fallback, csp } = flags
  return {
    ...config,
    ...(fallback !== undefined && { fallback }),
    ...(csp !== undefined && { csp: withMode(config.csp, csp) }),
  }
}

/** Reads the rules of a server that starts here, for commands that look at what it answers. */
export async function readRulesAsServed({ config }: Pick<RuleFlags, 'config'>): Promise<ServingRules> {
  const csp = cspModes.find((mode) => mode === process.env['CSP'])
  return await readRules(process.cwd(), {
    ...(config !== undefined && { config }),
    ...(csp !== undefined && { csp }),
  })
}

function withMode(rule: boolean | PolicyRules | undefined, mode: CspMode): boolean | PolicyRules {
  if (mode === 'off') return false
  return { ...(typeof rule === 'object' && rule), reportOnly: mode === 'report-only' }
}
