import { globProblem } from '@serve-dist/foundation/text/glob-problem'
import { formatValue } from '@serve-dist/foundation/values/describe-mismatch'
import * as s from './schema.ts'

/** A glob of files. */
export const glob: s.Schema<string> = s.checked(s.text('a glob'), (pattern, note) => {
  const problem = globProblem(pattern)
  if (problem !== undefined) note(`${problem}, found ${formatValue(pattern)}`)
})
