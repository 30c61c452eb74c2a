import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { OperatorError } from '@serve-dist/manifest'
import type { Content } from './backend.ts'
import { blobsPrefix, splitKey } from './layout.ts'

/** Returns the digest in the key of a blob. */
export function digestOfKey(key: string): string | undefined {
  const { plainKey = '' } = splitKey(key) ?? {}
  return plainKey.startsWith(blobsPrefix) ? plainKey.slice(blobsPrefix.length) : undefined
}

/**
 * Opens a content and checks its size and digest. A mismatch is an error before the last chunk, because the reader must
 * not take changed content for complete.
 */
export function verifyContent(key: string, content: Content): Readable {
  const { size } = content instanceof Uint8Array ? { size: content.length } : content
  let source: Readable | undefined
  const promised = digestOfKey(key)
  const proven = async function* (): AsyncGenerator<Uint8Array> {
    const digest = createHash('sha256')
    let read = 0
    let last: Uint8Array | undefined
    // Opens the source only now, because an earlier error would have no listener.
    source = content instanceof Uint8Array ? Readable.from([content]) : content.open()
    try {
      for await (const chunk of source as AsyncIterable<Uint8Array>) {
        if (last !== undefined) yield last
        last = chunk
        read += chunk.length
        if (promised !== undefined) digest.update(chunk)
      }
    } catch (error) {
      throw unreadable(key, error)
    }
    const isSame = read === size && (promised === undefined || digest.digest('hex') === promised)
    if (!isSame) throw changed(key)
    if (last !== undefined) yield last
  }
  return Readable.from(proven(), { objectMode: false }).once('close', () => source?.destroy())
}

function unreadable(key: string, cause: unknown): unknown {
  if (cause instanceof OperatorError || !(cause instanceof Error)) return cause
  const problem = `${key}: cannot read the source file (${cause.message})`
  return new OperatorError('SD_FOLDER_UNREADABLE', problem, { cause })
}

function changed(key: string): OperatorError {
  const problem = `${key}: the source file does not match the manifest. Build again, and do not change the folder while it is published.`
  return new OperatorError('SD_BUILD_CHANGED', problem)
}
