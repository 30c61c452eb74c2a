import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { socketTimeout } from './connection-limits.ts'
import { chunkSize, type FileContent, openStored, readRange } from './stored-file.ts'

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
  // A pipelined request whose turn has not come has no socket, and never learns that the client has gone:
  // opened now, its file would stay open for ever.
  if (response.socket === null) await once(response, 'socket')
  const handle = await openStored(content.stored)
  let deadline: NodeJS.Timeout | undefined
  try {
    writeHead()
    const write = createWriter(response)
    // A socket's own time limit is content with a byte a minute, which is what a kernel short of memory for
    // TCP grants to readers that stall. 48 KiB in that time are 820 bytes a second; Kestrel asks for 240.
    deadline = setTimeout(() => response.destroy(), socketTimeout).unref()
    // One buffer a reader: a thousand that stall must not cost what they were sent before.
    const buffer = Buffer.allocUnsafeSlow(Math.min(chunkSize, content.end - content.first))
    for await (const chunk of readRange(handle, content, buffer)) {
      await write(chunk)
      deadline.refresh()
    }
    response.end()
  } finally {
    clearTimeout(deadline)
    await handle.close()
  }
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
