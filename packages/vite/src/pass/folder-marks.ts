import { resolve } from 'node:path'
import { markUnfinished, retireManifest } from '@serve-dist/precompress'
import type { Environment } from 'vite'
import { isInside, outermostFolders, outputFolders } from '../record/output-folders.ts'
import type { PassContext } from './compress-folders.ts'

/** Marks the folders of unfinished builds, which the server refuses. */
export interface FolderMarks {
  /** Marks the folders of an environment, or the one of an output, once earlier work there has ended. */
  mark(environment: Environment, earlier: Promise<unknown>, folder?: string): Promise<void>
  /** From now on other plugins may change the folders before this plugin runs. */
  expectChanges(environment: Environment): void
  /** Warns of a failed build. Marks its folders first if other plugins may have changed them. */
  tellUnserved(context: PassContext, earlier: Promise<unknown>): Promise<void>
  /** Forgets the marks of a build that has finished. */
  forget(environment: Environment): void
}

export function createFolderMarks(): FolderMarks {
  const marked = new WeakMap<Environment, readonly string[]>()
  const unmarked = new WeakSet<Environment>()
  let marking: Promise<unknown> = Promise.resolve()

  const mark: FolderMarks['mark'] = async (environment, earlier, folder) => {
    // Rollup begins watched outputs at once: mark one after the other.
    const next = Promise.allSettled([earlier, marking]).then(
      async () => await markFolders(environment, folder),
    )
    marking = next
    marked.set(environment, await next)
    unmarked.delete(environment)
  }

  return {
    mark,
    expectChanges: (environment) => void unmarked.add(environment),
    async tellUnserved(context, earlier) {
      const { environment } = context
      if (unmarked.has(environment)) {
        // The user must see the failure of the build, not this one in its place.
        await mark(environment, earlier).catch((error: unknown) => {
          context.warn(error instanceof Error ? error.message : String(error))
        })
      }
      for (const folder of marked.get(environment) ?? []) {
        context.warn(`the build did not finish: ${folder} is not served until one does`)
      }
      marked.delete(environment)
    },
    forget: (environment) => void marked.delete(environment),
  }
}

/**
 * Marks the folders that get a pass once an environment has written its outputs, now that Vite has emptied them. If
 * the build is killed or fails from here on, the server serves no part of it. Returns the folders.
 *
 * @param folder - that of the output which begins; all that are configured when none does yet.
 */
async function markFolders({ config }: Environment, folder?: string): Promise<readonly string[]> {
  if (!config.build.write) return []
  const configured = outputFolders(config)
  // Vite empties all at once. If a plugin moved the output, nobody knows what happens to the others.
  const folders = outermostFolders(
    folder === undefined || configured.includes(folder) ? configured : [folder],
  )
  for (const marked of folders) await markUnfinished(marked)
  return folders
}

/**
 * Removes the manifests of the folders that an environment is about to write to, public files first: if the build
 * does not finish, no manifest is left that describes other bytes.
 */
export async function retireManifests({ config }: Environment): Promise<void> {
  if (!config.build.write) return
  const folders = [resolve(config.root, config.build.outDir), ...outputFolders(config)]
  for (const folder of new Set(folders)) await retireManifest(folder)
}

/** The plugin of Vite by which it empties folders when a build is about to write; a watching Vite 6 has none. */
const laterEmptying = 'vite:prepare-out-dir'

/**
 * Whether the folders of an environment are emptied when a build of it begins, before its modules are known to be
 * sound: Vite 6 does so when it watches, and the first Vite 7.
 */
export function emptiesAtStart({ config }: Environment, meta: { readonly watchMode: boolean }): boolean {
  const { root, build, plugins } = config
  if (!meta.watchMode || !build.write || plugins.some(({ name }) => name === laterEmptying)) return false
  return build.emptyOutDir ?? outputFolders(config).every((folder) => isInside(folder, root))
}
