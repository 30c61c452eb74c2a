import type { ServerResponse } from 'node:http'
import { connectionLimits, minimumProgressBytes } from '../protocol/connection-limits.ts'
import { type FileLease, leaseFile } from '../files/kept-file.ts'
import { chunkSize, type FileContent, openStored, readRange } from '../files/stored-file.ts'
import { type MemoryReservation, reserveMemory } from './reserve-memory.ts'
import { runWhenWritable } from './run-when-writable.ts'

/**
 * Streams a part of a file. It calls `writeHead` after it has verified that the file is unchanged since the
 * start.
 *
 * @throws StoredFileError before the head, if the file is missing or changed. Errors after the head destroy
 *   the socket, so that the client does not mistake a part for the whole.
 */
export async function sendFile(
  response: ServerResponse,
  content: FileContent,
  writeHead: () => void,
): Promise<void> {
  // Lease before the first `await`: another site may become current then.
  const lease = leaseFile(content.stored)
  try {
    // Open the file only now, so that pipelined requests open one file at a time.
    const hasTurn = await new Promise<boolean>((resolve) => {
      runWhenWritable(
        response,
        () => resolve(true),
        () => resolve(false),
      )
    })
    if (hasTurn) await sendNow(response, content, { lease, writeHead })
  } finally {
    lease?.release()
  }
}

async function sendNow(
  response: ServerResponse,
  content: FileContent,
  { lease, writeHead }: { readonly lease: FileLease | undefined; readonly writeHead: () => void },
): Promise<void> {
  const file = await openStored(content.stored, lease)
  let deadline: NodeJS.Timeout | undefined
  let share: MemoryReservation | undefined
  try {
    // A cancelled HTTP/2 stream has no socket, and writing to it would be an error.
    if (!response.socket) return
    writeHead()
    const write = createWriter(response)
    // A socket's own timeout accepts one byte per minute, which is all that a kernel under memory pressure
    // grants to a stalled client. 48 KiB within the limit are 820 bytes per second; Kestrel requires 240.
    let sent = bytesSent(response)
    const judge = (): void => {
      // Over HTTP/2, other answers may have used the connection.
      const hasMoved = bytesSent(response) >= sent + minimumProgressBytes
      sent = bytesSent(response)
      if (hasMoved) deadline?.refresh()
      else response.destroy()
    }
    deadline = setTimeout(judge, connectionLimits.socketTimeout).unref()
    // One buffer per client, so that a thousand stalled clients do not hold what was already sent.
    share = reserveMemory(Math.min(chunkSize, content.end - content.first))
    const buffer = Buffer.allocUnsafeSlow(share.bytes)
    for await (const chunk of readRange(file, content, buffer)) {
      await write(chunk)
      deadline.refresh()
      sent = bytesSent(response)
    }
    response.end()
  } finally {
    clearTimeout(deadline)
    share?.release()
    await file.close()
  }
}

/** Returns the number of bytes that were written to the connection. */
function bytesSent({ socket }: ServerResponse): number {
  return socket?.bytesWritten ?? 0
}

/**
 * Creates a function that writes a chunk. It settles when the bytes have left this process, and rejects if
 * the client disconnects.
 */
function createWriter(response: ServerResponse): (chunk: Uint8Array) => Promise<void> {
  let fail: ((reason: Error) => void) | undefined
  response.once('close', () => fail?.(new Error('the client closed the connection')))
  return (chunk) =>
    new Promise((resolve, reject) => {
      fail = reject
      response.write(chunk, (error) => {
        if (error) reject(error)
        else resolve()
      })
    })
}
