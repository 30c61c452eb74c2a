import type { ServerResponse } from 'node:http'
import { connectionLimits, minimumProgressBytes } from '../protocol/connection-limits.ts'
import { type FileLease, leaseFile } from '../files/kept-file.ts'
import { chunkSize, type FileContent, openStored, readRange } from '../files/stored-file.ts'
import { type MemoryReservation, reserveMemory } from './reserve-memory.ts'
import { runWhenWritable } from './run-when-writable.ts'

/**
 * Streams a part of a file, and calls `writeHead` once it is known that the file is still the one that
 * boot saw.
 *
 * @throws StoredFileError before the head, when the file is gone or another one; any error after the
 * head has destroyed the socket, so that a client never takes a part for the whole.
 */
export async function sendFile(
  response: ServerResponse,
  content: FileContent,
  writeHead: () => void,
): Promise<void> {
  // Before anything is waited for: the site that decided may be retired meanwhile.
  const lease = leaseFile(content.stored)
  try {
    // Only then, so that pipelined requests open no more than one file at a time.
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
    // A stream of HTTP/2 that was cancelled meanwhile has none; writing to it would be an error of ours.
    if (!response.socket) return
    writeHead()
    const write = createWriter(response)
    // A socket's own time limit is content with a byte a minute, which is what a kernel short of memory for
    // TCP grants to readers that stall. 48 KiB in that time are 820 bytes a second; Kestrel asks for 240.
    let sent = bytesSent(response)
    const judge = (): void => {
      // Over HTTP/2 other answers may have had their turn.
      const hasMoved = bytesSent(response) >= sent + minimumProgressBytes
      sent = bytesSent(response)
      if (hasMoved) deadline?.refresh()
      else response.destroy()
    }
    deadline = setTimeout(judge, connectionLimits.socketTimeout).unref()
    // One buffer a reader: a thousand that stall must not cost what they were sent before.
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

/** Bytes that its connection has been given to send. */
function bytesSent({ socket }: ServerResponse): number {
  return socket?.bytesWritten ?? 0
}

/** Writes settle when their bytes have left this process, and fail when the client has gone. */
function createWriter(response: ServerResponse): (chunk: Uint8Array) => Promise<void> {
  let fail: ((reason: Error) => void) | undefined
  response.once('close', () => fail?.(new Error('the client has gone')))
  return (chunk) =>
    new Promise((resolve, reject) => {
      fail = reject
      response.write(chunk, (error) => {
        if (error) reject(error)
        else resolve()
      })
    })
}
