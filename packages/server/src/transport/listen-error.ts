/** An address that could not be had; the message says why and what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
}
