/** Whether an error of the file system says that nothing stands under the path. */
export function isNotFoundError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

/** The message of whatever was thrown; of an error of the file system, without the path that the caller's text names. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // By its form: an error from another thread has lost its fields.
  return error.message.replace(/^(E[A-Z\d]+: .*?), \w+(?: '.*)?$/s, '$1')
}
