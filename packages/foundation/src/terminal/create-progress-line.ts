interface Progress {
  /** The number of finished files. */
  readonly files: number
  readonly totalFiles: number
  /** The number of finished bytes, including finished parts of files. */
  readonly bytes: number
  readonly totalBytes: number
}

/** A line of a terminal that is redrawn. */
export interface ProgressLine {
  update(progress: Progress): void
  /** Removes the line. Call it before other output. */
  clear(): void
}

/** The minimum time between two drawings, in milliseconds. */
const intervalMs = 100

/** The time before the first estimate, in milliseconds. Earlier estimates fluctuate. */
const settlingMs = 1000

const eraseLine = '\r\u001B[2K'

/**
 * Creates a progress line. It does nothing if `stream` is not a terminal.
 *
 * @param activity - the name of the operation, for example `compressing`.
 * @param counted - the name of the things that it counts.
 */
export function createProgressLine(
  stream: NodeJS.WriteStream,
  activity: string,
  counted = 'files',
): ProgressLine {
  if (!stream.isTTY) return { update: () => {}, clear: () => {} }
  let drawnAt = -Infinity
  let isDrawn = false
  let begun: { readonly at: number; readonly bytes: number } | undefined

  return {
    update(progress) {
      const now = performance.now()
      begun ??= { at: now, bytes: progress.bytes }
      if (now - drawnAt < intervalMs) return
      drawnAt = now
      const bytesPerMs = (progress.bytes - begun.bytes) / (now - begun.at)
      const isEarly = now - begun.at < settlingMs || bytesPerMs === 0
      const secondsLeft = (progress.totalBytes - progress.bytes) / bytesPerMs / 1000
      const line =
        `${activity} ${lineOf(progress, counted)}` + (isEarly ? '' : ` · ${duration(secondsLeft)} left`)
      // A wrapped line could not be erased.
      if (line.length >= stream.columns) return
      stream.write(eraseLine + line)
      isDrawn = true
    },
    clear() {
      if (isDrawn) stream.write(eraseLine)
      isDrawn = false
      drawnAt = -Infinity
    },
  }
}

function lineOf({ files, totalFiles, bytes, totalBytes }: Progress, counted: string): string {
  const percent = totalBytes === 0 ? 100 : Math.floor((bytes / totalBytes) * 100)
  const [size, unit] = totalBytes < 1e6 ? [1000, 'kB'] : [1e6, 'MB']
  const done = `${(bytes / size).toFixed(1)}/${(totalBytes / size).toFixed(1)} ${unit}`
  return `${percent} % · ${files}/${totalFiles} ${counted} · ${done}`
}

function duration(seconds: number): string {
  const whole = Math.ceil(seconds)
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}
