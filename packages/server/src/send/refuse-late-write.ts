import type { EventEmitter } from 'node:events'

/** As Node refuses what is written after the end over HTTP/1.1: it is told, and the answer goes on. */
export function refuseLateWrite(
  response: EventEmitter & { readonly destroyed?: boolean },
  done: ((error: Error) => void) | undefined,
): void {
  const error = Object.assign(new Error('write after end'), { code: 'ERR_STREAM_WRITE_AFTER_END' })
  process.nextTick(() => {
    if (!response.destroyed) response.emit('error', error)
    done?.(error)
  })
}
