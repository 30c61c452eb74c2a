import { loadOptional } from '@serve-dist/manifest'
import cluster from 'node:cluster'
import { fstatSync } from 'node:fs'
import type { Exchange } from './exchange.ts'
import type { Site } from '../site/site.ts'
import { toCombinedLine, toLogEntry } from './log-entry.ts'
import type { AccessLogFormat } from './operations-options.ts'

/** Milliseconds that a reader has at the end to take the rest: it must not hold the process for longer. */
const patience = 1000

/** Writes requests down. */
export interface AccessLog {
  /** @param site - of the current build; `undefined` before the first one is loaded. */
  write(exchange: Exchange, site: Site | undefined): void
  /** Settles when everything is written, or after a second. */
  close(): Promise<void>
}

/** What `openAccessLog` takes. */
export interface AccessLogOptions {
  /** @default 1, standard output */
  readonly descriptor?: number
  /**
   * Called once, when it drops lines because nobody reads them.
   * @default prints the message to standard error
   */
  readonly onProblem?: (message: string) => void
}

/** Bytes that are written at a time: 16 KiB were not enough for all lines of a saturated core (25,000 a second). */
const batchSize = 64 * 1024
/** Writes of so many bytes do not mix with other processes' on the same pipe (POSIX, `PIPE_BUF`). */
const atomicBatchSize = 4096
/** Bytes of lines that wait for a reader; beyond that, lines are dropped, so that memory stays bounded. */
const mostWaiting = 16 * 1024 * 1024
/** Milliseconds that a line waits at most. */
const latestFlush = 200

/**
 * Opens an access log on standard output. It gathers lines and writes them asynchronously, and the rest when the process
 * ends, also by a signal or an error.
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
  // Node makes a pipe non-blocking here; otherwise one that nobody reads could hold a thread, and so the process.
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
    // pino repeats a failed write for ever, so after a second it gets no descriptor any more.
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
      // Otherwise pino would repeat it for ever.
      destination.destroy()
    }
  }
  // Before pino's own.
  process.prependListener('exit', writeRest)
  destination.once('drop', () => {
    onProblem('the access log drops lines: nobody reads standard output')
  })
  // A log that fails must not take the server down.
  let isOver = false
  const giveUp = (): void => {
    isOver = true
    // Otherwise pino would repeat it for ever at the end of the process.
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
        // Without a reader it never closes.
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

/** Its error is the one that pino asks `retryEAGAIN` about. */
function descriptorUntil(deadline: number, descriptor: number): number {
  if (performance.now() < deadline) return descriptor
  throw Object.assign(new Error('nobody has read the rest of the log'), { code: 'EAGAIN' })
}

function printProblem(message: string): void {
  process.stderr.write(`serve-dist: warning: ${message}\n`)
}
