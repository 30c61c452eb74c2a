/** What an error says, without the path that the message around it names anyway. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message.replace(/, \w+(?: '.*)?$/s, '')
}
