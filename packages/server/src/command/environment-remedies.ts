const remedyOfUnset =
  'set the variables in the environment of the server, or in a file: serve-dist --env-file <file> (.env is not loaded automatically)'
const remedyOfInvalid = 'correct the values in the environment of the server, or in the file of --env-file'

/**
 * Returns the remedies for problems with variables. A problem that ends with a full stop contains its own remedy.
 *
 * @param message - one problem per line. An error of a worker has only its message.
 */
export function environmentRemedies(message: string): readonly string[] {
  const problems = message.split('\n')
  const unset = problems.filter((problem) => /\b(?:not set|empty)$/.test(problem))
  const invalid = problems.filter((problem) => !unset.includes(problem) && !problem.endsWith('.'))
  return [...(unset.length > 0 ? [remedyOfUnset] : []), ...(invalid.length > 0 ? [remedyOfInvalid] : [])]
}
