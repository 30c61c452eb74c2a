/** Whether an error of the file system says that nothing stands under the path. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

/** What an error says, without the path that the message around it names anyway. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message.replace(/, \w+(?: '.*)?$/s, '')
}
