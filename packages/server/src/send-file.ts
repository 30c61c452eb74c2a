import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
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
  try {
    writeHead()
    const write = createWriter(response)
    // One buffer a reader: a thousand that stall must not cost what they were sent before.
    const buffer = Buffer.allocUnsafeSlow(Math.min(chunkSize, content.end - content.first))
    for await (const chunk of readRange(handle, content, buffer)) await write(chunk)
    response.end()
  } finally {
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
