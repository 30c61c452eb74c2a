import type { Environment } from 'vite'
import { markFolders } from './mark-folders.ts'
import type { PassContext } from './pass-context.ts'

/** Knows which folders are marked as those of builds that have not come to their end. */
export interface FolderMarks {
  /** Marks those of an environment, or that of an output, when earlier work there has ended. */
  mark(environment: Environment, earlier: Promise<unknown>, folder?: string): Promise<void>
  /** From now on others may change the folders before ours has its turn. */
  expectChanges(environment: Environment): void
  /** Tells of a build that failed; where others may have changed its folders, they are marked first. */
  tellUnserved(context: PassContext, earlier: Promise<unknown>): Promise<void>
  /** Forgets the marks of a build that has come to its end. */
  forget(environment: Environment): void
}

export function createFolderMarks(): FolderMarks {
  const marked = new WeakMap<Environment, readonly string[]>()
  const unmarked = new WeakSet<Environment>()
  let marking: Promise<unknown> = Promise.resolve()

  const mark: FolderMarks['mark'] = async (environment, earlier, folder) => {
    // Watched outputs of Rollup begin at once: one marks after the other.
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
        // The failure of the build is what its user is told, and not this one in its place.
        await mark(environment, earlier).catch((error: unknown) => {
          context.warn(error instanceof Error ? error.message : String(error))
        })
      }
      for (const folder of marked.get(environment) ?? []) {
        context.warn(`the build did not come to its end: ${folder} is not served until one does`)
      }
      marked.delete(environment)
    },
    forget: (environment) => void marked.delete(environment),
  }
}
