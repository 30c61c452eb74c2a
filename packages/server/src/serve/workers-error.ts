/** Workers that do not start, or do not stay; the message is the first one's, or says what was seen. */
export class WorkersError extends Error {
  override readonly name = 'WorkersError'
}
