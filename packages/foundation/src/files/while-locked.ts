import { once } from 'node:events'
import { rmSync, statSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256Of } from '../text/sha256-of.ts'
import { hasErrorCode } from './file-error.ts'

export interface LockOptions {
  readonly warn: (message: string) => void
  /** Ends the wait for another command. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs `work` after all other compressions and carries of the folder on this machine, and before the next one.
 *
 * The lock is a listening local socket: the operating system releases it even if the process is killed. Without local
 * sockets, `work` runs without a lock.
 *
 * @param folder - absolute path of an existing folder.
 * @throws the reason of `signal`.
 */
export async function whileLocked<Result>(
  folder: string,
  options: LockOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  const unlock = await lock(folder, options)
  try {
    return await work()
  } finally {
    unlock()
  }
}

async function lock(folder: string, { warn, signal }: LockOptions): Promise<() => void> {
  const address = addressOf(folder)
  for (let turn = 0; ; turn += 1) {
    signal?.throwIfAborted()
    const waiting = new Set<Socket>()
    // A waiting process may die and reset its connection.
    const server = createServer((socket) => waiting.add(socket.unref().on('error', () => {})))
    try {
      await listen(server, address)
      return () => {
        server.close()
        for (const socket of waiting) socket.destroy()
      }
    } catch (error) {
      if (!hasErrorCode(error, 'EADDRINUSE')) return () => {}
    }
    if (turn === 0)
      warn(`another compression or carry of ${folder} is running. This one waits until it ends.`)
    await endOfHolder(address, signal)
  }
}

async function listen(server: Server, path: string): Promise<void> {
  // `exclusive`, because workers of a cluster would share the socket.
  server.unref().listen({ path, exclusive: true })
  await once(server, 'listening')
}

/** Resolves when the process with the lock closes the connection, or ends. */
async function endOfHolder(address: string, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted === true) return
  const socket = connect(address)
  const abort = (): void => {
    socket.destroy()
  }
  signal?.addEventListener('abort', abort)
  socket.on('error', (error) => {
    // Only a socket with a file outlives its process.
    if (hasErrorCode(error, 'ECONNREFUSED') && process.platform !== 'linux') rmSync(address, { force: true })
  })
  await new Promise((resolve) => socket.on('close', resolve))
  signal?.removeEventListener('abort', abort)
}

/** Names the folder by its numbers on the disk, because a folder may have several paths. */
function addressOf(folder: string): string {
  const { dev, ino } = statSync(folder, { bigint: true })
  const name = `serve-dist-${sha256Of(`${dev}:${ino}`).slice(0, 32)}`
  if (process.platform === 'win32') return `\\\\.\\pipe\\${name}`
  // Linux has local sockets without files.
  return process.platform === 'linux' ? `\0${name}` : join(tmpdir(), name)
}
