import { loadOptional } from '@serve-dist/manifest'
import cluster from 'node:cluster'
import { fstatSync } from 'node:fs'
import type { Exchange } from './exchange.ts'
import type { Site } from '../site/site.ts'
import { toCombinedLine, toLogEntry } from './log-entry.ts'
import type { AccessLogFormat } from './operations-options.ts'

/** Milliseconds for writing the rest at the end; a slow reader must not delay the process longer. */
const patience = 1000

/** A log of requests. */
export interface AccessLog {
  /** @param site - the site of the current build; `undefined` before the first build is loaded. */
  write(exchange: Exchange, site: Site | undefined): void
  /** Settles when all lines are written, or after a second. */
  close(): Promise<void>
}

/** Options of `openAccessLog`. */
export interface AccessLogOptions {
  /** @default 1, standard output */
  readonly descriptor?: number
  /**
   * Called once, when lines are dropped because the reader is too slow.
   * @default prints the message to standard error
   */
  readonly onProblem?: (message: string) => void
}

/** Bytes per write: 16 KiB were too few for the lines of a saturated core (25,000 per second). */
const batchSize = 64 * 1024
/**
 * Writes up to this size do not interleave with those of other processes on the same pipe (POSIX,
 * `PIPE_BUF`).
 */
const atomicBatchSize = 4096
/** Bytes of lines that wait for the reader. Lines beyond this are dropped, to bound the memory. */
const mostWaiting = 16 * 1024 * 1024
/** Milliseconds that a line waits at most. */
const latestFlush = 200

/**
 * Opens an access log on standard output. It writes lines in batches and asynchronously. It writes the rest
 * when the process ends, also by a signal or an error.
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
  // Makes Node set the pipe to non-blocking mode. A full pipe could otherwise block a thread and the whole
  // process.
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
    // pino repeats failed writes endlessly, hence it gets no descriptor after a second.
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
      // Prevents pino from repeating the write endlessly.
      destination.destroy()
    }
  }
  // Runs before pino's own listener.
  process.prependListener('exit', writeRest)
  destination.once('drop', () => {
    onProblem('the access log drops lines because standard output is not read')
  })
  // A failing log must not stop the server.
  let isOver = false
  const giveUp = (): void => {
    isOver = true
    // Prevents pino from repeating the write endlessly at the end of the process.
    destination.destroy()
  }
  destination.on('error', (error) => {
    if (!isOver) onProblem(`cannot write the access log: ${String(error)}`)
    giveUp()
  })
  const close = async (): Promise<void> => {
    deadline = performance.now() + patience
    if (!isOver) {
      const timer = setTimeout(giveUp, patience)
      await new Promise<void>((resolve) => {
        destination.once('close', resolve)
        // Without a reader, the stream never closes.
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
        if (!isOver) destination.write(`${toCombinedLine(exchange, endOf(exchange))}\n`)
      },
      close,
    }
  }
  let time = new Date()
  const logger = pino(
    {
      base: null,
      timestamp: () => `,"time":"${time.toISOString()}"`,
      formatters: { level: (level) => ({ level }) },
    },
    destination,
  )
  return {
    write(exchange, site) {
      if (isOver) return
      time = endOf(exchange)
      const entry = toLogEntry(exchange, site)
      if (exchange.status >= 500) logger.error(entry)
      else logger.info(entry)
    },
    close,
  }
}

function endOf({ time }: Exchange): Date {
  return time === undefined ? new Date() : new Date(time)
}

/** pino passes this error to `retryEAGAIN`. */
function descriptorUntil(deadline: number, descriptor: number): number {
  if (performance.now() < deadline) return descriptor
  throw Object.assign(new Error('the rest of the log was not read'), { code: 'EAGAIN' })
}

function printProblem(message: string): void {
  process.stderr.write(`serve-dist: warning: ${message}\n`)
}
