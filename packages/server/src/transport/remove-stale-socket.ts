import { OperatorError } from '@serve-dist/manifest'
import { lstat, unlink } from 'node:fs/promises'
import { connect } from 'node:net'

/**
 * Makes room for a unix socket: what a server that was killed has left behind is removed.
 *
 * @throws OperatorError when a server listens there, or something else than a socket is there.
 */
export async function removeStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined)
  if (found === undefined) return
  if (!found.isSocket()) {
    throw new OperatorError(
      'SD_LISTEN_FAILED',
      `${path} is there, and is no socket; remove it, or choose another path with --socket`,
    )
  }
  if (await isListening(path)) {
    throw new OperatorError(
      'SD_LISTEN_FAILED',
      `a server listens on ${path}; stop it, or choose another path with --socket`,
    )
  }
  await unlink(path).catch((cause: Error) => {
    throw new OperatorError(
      'SD_LISTEN_FAILED',
      `${path} is left from an earlier server and cannot be removed: ${cause.message}`,
      {
        cause,
      },
    )
  })
}

/** Whoever is not refused has met a server, also one that is busy or of somebody else. */
async function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const answer = (isThere: boolean): void => {
      socket.destroy()
      resolve(isThere)
    }
    socket.once('connect', () => answer(true))
    socket.once('error', (error: NodeJS.ErrnoException) =>
      answer(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'),
    )
  })
}
