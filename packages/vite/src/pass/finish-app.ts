import type { ViteBuilder } from 'vite'
import { repeatPasses } from './repeat-passes.ts'

/** The last step of an application's build, in which every environment has written what it will. */
export async function finishApp(builder: ViteBuilder): Promise<void> {
  const environments = Object.values(builder.environments)
  // What nobody builds, Vite builds when all hooks are through: here, so that there is an end to come after.
  if (builder.config.builder !== undefined && environments.every(({ isBuilt }) => !isBuilt)) {
    for (const environment of environments) await builder.build(environment)
  }
  await repeatPasses(environments)
}
