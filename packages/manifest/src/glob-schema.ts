import { globProblem } from '@serve-dist/foundation/text/glob-problem'
import { show } from '@serve-dist/foundation/values/mismatch'
import * as s from './schema.ts'

/** A glob of files. */
export const glob: s.Schema<string> = s.checked(s.text('a glob'), (pattern, note) => {
  const problem = globProblem(pattern)
  if (problem !== undefined) note(`${problem}, found ${show(pattern)}`)
})
