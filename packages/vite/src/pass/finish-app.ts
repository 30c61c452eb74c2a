import type { Environment, ViteBuilder } from 'vite'
import { outermostFolders } from '../record/output-folders.ts'
import { compressFolders, type PassContext, type PassOptions } from './compress-folders.ts'

/** A pass that came to its end. */
export interface FinishedPass {
  readonly folders: readonly string[]
  readonly options: Omit<PassOptions, 'isRepeated'>
}

/**
 * The last pass of each environment. Not of a plugin: where environments do not share their configuration,
 * each has a plugin of its own, and only that of the first hears when the whole application is built.
 */
export const finishedPasses: WeakMap<Environment, FinishedPass> = new WeakMap()

/** The last step of an application's build, in which every environment has written what it will. */
export async function finishApp(builder: ViteBuilder): Promise<void> {
  const environments = Object.values(builder.environments)
  // If no plugin builds the environments, Vite does so after all hooks. Build them here, so that this is the end.
  if (builder.config.builder !== undefined && environments.every(({ isBuilt }) => !isBuilt)) {
    for (const environment of environments) await builder.build(environment)
  }
  await repeatPasses(environments)
}

/**
 * Compresses the folders of an application again when all its environments are built: what did not change
 * is known from the first time. Environments that share a folder know of each other now.
 */
async function repeatPasses(environments: readonly Environment[]): Promise<void> {
  const finished = environments.flatMap((environment) => {
    const pass = finishedPasses.get(environment)
    finishedPasses.delete(environment)
    return pass === undefined ? [] : [{ environment, ...pass }]
  })
  const outermost = outermostFolders(finished.flatMap(({ folders }) => folders))
  const isHashed = (path: string): boolean => finished.some(({ options }) => options.isHashed(path))
  const graph = new Map(finished.flatMap(({ options }) => [...options.graph]))
  const taken = new Set<string>()
  for (const { environment, folders, options } of finished) {
    const own = folders.filter((folder) => outermost.includes(folder) && !taken.has(folder))
    for (const folder of own) taken.add(folder)
    await compressFolders(Promise.resolve(), contextOf(environment), own, {
      ...options,
      isHashed,
      graph,
      isRepeated: true,
    })
  }
}

/** The hooks' own context ends with the environment's build. */
function contextOf(environment: Environment): PassContext {
  return {
    environment,
    meta: { watchMode: false },
    warn: (message) => environment.logger.warn(message),
    error({ message, cause, stack }) {
      throw Object.assign(new Error(message, { cause }), stack !== undefined && { stack })
    },
  }
}
