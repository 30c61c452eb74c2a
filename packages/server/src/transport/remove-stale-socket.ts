import { OperatorError } from '@serve-dist/manifest'
import { lstat, unlink } from 'node:fs/promises'
import { connect } from 'node:net'

/**
 * Removes the unix socket of a killed server.
 *
 * @throws OperatorError if a server listens there, or the path is not a socket.
 */
export async function removeStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined)
  if (found === undefined) return
  if (!found.isSocket()) {
    throw refused(`${path} exists but is not a socket. Remove it, or choose another path with --socket.`)
  }
  if (await isListening(path)) {
    throw refused(`a server already listens on ${path}. Stop it, or choose another path with --socket.`)
  }
  await unlink(path).catch((cause: Error) => {
    throw refused(`cannot remove ${path}, the socket of an earlier server: ${cause.message}`, cause)
  })
}

function refused(message: string, cause?: Error): OperatorError {
  return new OperatorError('SD_LISTEN_FAILED', message, { cause })
}

/**
 * Only a refused connection proves that no server listens; others may be busy or belong to another user.
 */
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
