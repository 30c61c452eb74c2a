import { isNegatedPattern } from '@serve-dist/foundation/text/is-negated-pattern'
import { matchingNames } from './list-files.ts'

/**
 * Warns about globs that match no file of the folder, because a typing error may publish files that a glob should
 * exclude.
 *
 * @param lists - globs by the name of their option.
 */
export async function warnAboutUnmatchedGlobs(
  folder: string,
  lists: Readonly<Record<string, readonly string[] | undefined>>,
  warn: (message: string) => void,
): Promise<void> {
  const unmatched: string[] = []
  for (const [option, globs = []] of Object.entries(lists)) {
    for (const glob of globs) if (!(await matchesFile(folder, glob))) unmatched.push(`${option} ${glob}`)
  }
  if (unmatched.length === 0) return
  const hint = unmatched.some((glob) => glob.includes('\\'))
    ? 'Separate folders with "/" instead of "\\", on every system.'
    : 'Correct the glob.'
  warn(`${unmatched.join(', ')}: no file in ${folder} matches. ${hint}`)
}

/** Ignores a leading `!`. A glob for a folder also selects its content. */
async function matchesFile(folder: string, glob: string): Promise<boolean> {
  const plain = isNegatedPattern(glob) ? glob.slice(1) : glob
  return (await matchingNames(folder, { include: [plain, `${plain}/**`], exclude: [] })).length > 0
}
