import type { ServingRules } from '@serve-dist/manifest'
import { readConfig } from './read-config.ts'

/** What a command line says of how to serve, and the configuration that it names. */
interface RuleFlags extends Pick<ServingRules, 'prefer' | 'fallback' | 'sourceMaps' | 'immutable' | 'cors'> {
  readonly config?: string
}

/** The rules of the configuration and of the command line, which outranks it; globs add up. */
export async function readRules(folder: string, flags: RuleFlags): Promise<ServingRules> {
  const config = await readConfig(folder, flags.config)
  const { prefer, fallback, sourceMaps, immutable = [], cors = [] } = flags
  return {
    ...config,
    ...(prefer !== undefined && { prefer }),
    ...(fallback !== undefined && { fallback }),
    ...(sourceMaps !== undefined && { sourceMaps }),
    immutable: [...(config.immutable ?? []), ...immutable],
    cors: [...(config.cors ?? []), ...cors],
  }
}
