import type { EnvironmentSource } from '@serve-dist/manifest'
import type { ResolvedConfig } from 'vite'

/** What Vite loads from `.env` files, with the environment of this process, which counts first. */
export async function loadVariables({
  mode,
  envDir,
}: Pick<ResolvedConfig, 'mode' | 'envDir'>): Promise<EnvironmentSource> {
  // Only where it is needed: a project may have another version of Vite than the one that runs this build.
  const { loadEnv } = await import('vite')
  return loadEnv(mode, envDir, '')
}
