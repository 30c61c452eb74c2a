/** Returns whether a file system error means that the path does not exist. */
export function isNotFoundError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
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
