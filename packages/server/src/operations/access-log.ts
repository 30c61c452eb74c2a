import cluster from 'node:cluster'
import { fstatSync } from 'node:fs'
import type { Exchange } from './exchange.ts'
import { loadOptional } from '../load-optional.ts'
import { toCombinedLine, toLogEntry } from './log-entry.ts'

/** How a line of the access log is written. */
export type AccessLogFormat = 'json' | 'common'

/** Milliseconds that a reader has at the end to take the rest; it must not hold the process for longer. */
const patience = 1000

/** Where requests are written down. */
export interface AccessLog {
  /** @param buildId - of the build that is served now. */
  write(exchange: Exchange, buildId: string): void
  /** Settles when everything is written, or a second has passed. */
  close(): Promise<void>
}

/** Where lines go, and what is done when nobody takes them. */
export interface AccessLogOptions {
  /** @default 1, standard output */
  readonly descriptor?: number
  /**
   * Called once, when lines are dropped because nobody reads them.
   * @default prints the message to standard error
   */
  readonly onProblem?: (message: string) => void
}

/** Bytes that are written at a time: 16 KiB were not enough for all lines of a saturated core (25,000 a second). */
const batchSize = 64 * 1024
/** Where several processes share a pipe, so many bytes do not mix with those of others (POSIX, `PIPE_BUF`). */
const atomicBatchSize = 4096
/** Bytes of lines that wait for a reader; beyond that, lines are dropped rather than memory filled. */
const mostWaiting = 16 * 1024 * 1024
/** Milliseconds after which a line is written in any case. */
const latestFlush = 200

/**
 * Opens an access log on standard output. Lines are gathered and written asynchronously; what is left is
 * written when the process ends, by a signal or an error too.
 *
 * @throws OperatorError without `pino`.
 */
export async function openAccessLog(
  format: AccessLogFormat,
  { descriptor = 1, onProblem = printProblem }: AccessLogOptions = {},
): Promise<AccessLog> {
  const { pino } = await loadOptional(
    { name: 'pino', neededBy: 'the access log' },
    async () => await import('pino'),
  )
  // Else a pipe that nobody reads may hold a thread of the pool in a write, and with it the end of the process.
  if (descriptor === 1) Reflect.get(process, 'stdout')
  let deadline = Number.POSITIVE_INFINITY
  const destination = pino.destination({
    dest: descriptor,
    sync: false,
    minLength: atomicBatchSize / 2,
    maxWrite: cluster.isWorker && !fstatSync(descriptor).isFile() ? atomicBatchSize : batchSize,
    maxLength: mostWaiting,
    periodicFlush: latestFlush,
    retryEAGAIN: () => performance.now() < deadline,
  })
  const flushInTime = (): void => {
    deadline = performance.now() + patience
    // Whatever fails but for want of a reader, pino tries again for ever: a second later there is nowhere to write to.
    Object.defineProperty(destination, 'fd', {
      configurable: true,
      get: () => descriptorUntil(deadline, descriptor),
    })
    try {
      destination.flushSync()
    } finally {
      Object.defineProperty(destination, 'fd', { value: descriptor, writable: true })
    }
  }
  const writeRest = (): void => {
    try {
      flushInTime()
    } catch {
      // Else pino would try again, for as long as it takes.
      destination.destroy()
    }
  }
  // Before pino's own.
  process.prependListener('exit', writeRest)
  destination.once('drop', () => {
    onProblem('the access log drops lines: nobody reads standard output')
  })
  // A log that cannot be written must not take the server down.
  let isOver = false
  const giveUp = (): void => {
    isOver = true
    // Else what waits is tried again at the end of the process, for ever.
    destination.destroy()
  }
  destination.on('error', (error) => {
    if (!isOver) onProblem(`the access log cannot be written: ${String(error)}`)
    giveUp()
  })
  const close = async (): Promise<void> => {
    deadline = performance.now() + patience
    if (!isOver) {
      const timer = setTimeout(giveUp, patience)
      await new Promise<void>((resolve) => {
        destination.once('close', resolve)
        // One that has nobody to read it is never closed.
        destination.once('error', () => resolve())
        destination.end()
      })
      clearTimeout(timer)
    }
    process.off('exit', writeRest)
  }
  if (format === 'common') {
    return {
      write(exchange) {
        if (!isOver) destination.write(`${toCombinedLine(exchange, new Date())}\n`)
      },
      close,
    }
  }
  const logger = pino(
    {
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
    },
    destination,
  )
  return {
    write(exchange, buildId) {
      if (isOver) return
      const entry = toLogEntry(exchange, buildId)
      if (exchange.status >= 500) logger.error(entry)
      else logger.info(entry)
    },
    close,
  }
}

/** The error is of the kind that pino asks about before it tries again. */
function descriptorUntil(deadline: number, descriptor: number): number {
  if (performance.now() < deadline) return descriptor
  throw Object.assign(new Error('nobody has taken the rest of the log'), { code: 'EAGAIN' })
}

function printProblem(message: string): void {
  process.stderr.write(`serve-dist: warning: ${message}\n`)
}
