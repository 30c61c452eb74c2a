import type { BeforeServing } from '../load/load-build.ts'
import type { ResolvedLiveSiteOptions } from '../load/load-options.ts'
import { combineSites } from '../site/combine-sites.ts'
import { comparedBuild, type Site } from '../site/site.ts'
import type { SiteFollower } from '../site/site-holder.ts'
import { openStagedSite, preparedOutcome, reloadStaged, type StagedSite } from './open-staged-site.ts'
import { problemLines } from './problem-lines.ts'
import type { PrepareOutcome } from './reload-outcome.ts'
import { coalesceRuns } from '../files/coalesce-runs.ts'
import { escapeMessage } from '@serve-dist/foundation/text/escape-invisible'

/**
 * Opens the builds of several folders as one site. Each build is replaced alone: if one is refused, the others
 * are replaced.
 *
 * @throws OperatorError if a build cannot be served, or if two of them overlap.
 */
export async function openStagedSites(
  directories: readonly string[],
  options: ResolvedLiveSiteOptions,
  beforeServing?: BeforeServing,
): Promise<StagedSite> {
  const { memoryBudget, openFiles } = options
  const share = {
    ...options,
    memoryBudget: Math.floor(memoryBudget / directories.length),
    openFiles: Math.floor(openFiles / directories.length),
  }
  const lives: StagedSite[] = []
  const close = (): void => lives.forEach((live) => live.close())
  let follower: SiteFollower | undefined
  let prepared: Site | undefined
  try {
    for (const directory of directories) {
      const onWarning = (text: string): void => options.onWarning(namingFolder(text, directory))
      lives.push(await openStagedSite(directory, { ...share, onWarning }, beforeServing))
    }
    const holder = { current: combine(lives.map((live) => live.current)) }
    const staged: StagedSite = Object.assign(holder, {
      next: () => prepared ?? holder.current,
      follow(next: SiteFollower) {
        follower = next
        follower.swap(holder.current)
      },
      prepare,
      swap() {
        if (prepared === undefined) return
        follower?.swap(prepared)
        for (const live of lives) live.swap()
        holder.current = prepared
        prepared = undefined
      },
      drop,
      reload: coalesceRuns(() => reloadStaged(staged)),
      close,
    })
    return staged

    async function prepare(): Promise<PrepareOutcome> {
      prepared = undefined
      // All builds have the problems of their common configuration.
      const found = new Set<string>()
      let isNew = false
      for (const live of lives) {
        const outcome = await live.prepare()
        if (outcome.status === 'refused') outcome.problems.forEach((problem) => found.add(problem))
        if (outcome.status === 'prepared') isNew = true
      }
      const before = comparedBuild(holder.current)
      try {
        if (isNew) prepared = combine(lives.map((live) => live.next()))
      } catch (error) {
        problemLines(error).forEach((problem) => found.add(problem))
      }
      const problems = [...found]
      if (prepared !== undefined) {
        await follower?.prepare(prepared)
        return { ...preparedOutcome(holder.current, prepared), ...(problems.length > 0 && { problems }) }
      }
      if (problems.length === 0) return { status: 'unchanged', ...before }
      return { status: 'refused', buildId: before.buildId, problems }
    }
  } catch (error) {
    close()
    throw error
  }

  async function drop(): Promise<void> {
    prepared = undefined
    await Promise.all(lives.map((live) => live.drop()))
  }
}

/** Begins a warning with the folder of its build, because several builds can have the same rule. */
function namingFolder(text: string, directory: string): string {
  const start = `${escapeMessage(directory)}: `
  return text.startsWith(start) ? text : start + text
}

function combine([first, ...others]: readonly Site[]): Site {
  if (first === undefined) throw new RangeError('at least one folder is required')
  return combineSites([first, ...others])
}
