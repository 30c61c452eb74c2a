/** Returns whether a file system error means that the path does not exist. */
export function isNotFoundError(error: unknown): boolean {
  return hasErrorCode(error, 'ENOENT', 'ENOTDIR')
}

/** Returns whether a thrown value is an error with one of these codes. */
export function hasErrorCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.some((code) => code === error.code)
}

/**
 * Returns the message of a thrown value. Removes the path from file system errors, because the caller's message
 * contains it.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // Uses the message, because errors from other threads lose their fields.
  return error.message.replace(/^(E[A-Z\d]+: .*?), \w+(?: '.*)?$/s, '$1')
}

/** Describes a file that exists and cannot be read, with its remedy. */
export function describeUnreadable(error: unknown): string {
  const remedy = hasErrorCode(error, 'EACCES', 'EPERM')
    ? 'Let this user read it and its folders: chmod -R a+rX'
    : 'Replace it with a file.'
  return `cannot read this file (${reasonOf(error)}). ${remedy}`
}
