import type { EnvironmentSource } from '@serve-dist/manifest'
import type { ResolvedConfig } from 'vite'

/** Loads variables from `.env` files and from this process's environment, which has precedence. */
export async function loadVariables({
  mode,
  envDir,
}: Pick<ResolvedConfig, 'mode' | 'envDir'>): Promise<EnvironmentSource> {
  // Load on demand: the project may have another version of Vite than the one that runs this build.
  const { loadEnv } = await import('vite')
  return loadEnv(mode, envDir, '')
}
