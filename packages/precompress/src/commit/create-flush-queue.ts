import { closeSync, fdatasync } from 'node:fs'

/** Flushes what is written while other things are. */
export interface FlushQueue {
  /** Flushes the file and closes it; ends when the next may come. */
  add(descriptor: number): Promise<void>
  /** Ends when all are flushed; fails when one could not be. */
  settle(): Promise<void>
}

/**
 * As many files may be open: more than Node's pool flushes at once, so that it finds the next while this thread
 * encodes, and file systems write several in one go.
 */
const mostOpen = 64

export function createFlushQueue(): FlushQueue {
  const open = new Set<number>()
  let failure: { readonly error: unknown } | undefined
  let closed: (() => void)[] = []

  const fallsBelow = async (limit: number): Promise<void> => {
    while (open.size >= limit) await new Promise<void>((resolve) => closed.push(resolve))
    if (failure !== undefined) throw failure.error
  }

  return {
    async add(descriptor) {
      open.add(descriptor)
      // Times need not survive: what is flushed is the content and its length.
      fdatasync(descriptor, (error) => {
        closeSync(descriptor)
        open.delete(descriptor)
        if (error !== null) failure ??= { error }
        const told = closed
        closed = []
        for (const resolve of told) resolve()
      })
      if (open.size >= mostOpen) await fallsBelow(mostOpen)
    },
    settle: async () => await fallsBelow(1),
  }
}
