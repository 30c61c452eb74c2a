/** How far something is that takes its time. */
interface Progress {
  /** Files that are done. */
  readonly files: number
  readonly totalFiles: number
  /** Bytes of these files that are done, and of one in work the share that is. */
  readonly bytes: number
  readonly totalBytes: number
}

/** One line of a terminal that is drawn over. */
export interface ProgressLine {
  update(progress: Progress): void
  /** Removes the line; call it before anything else is printed. */
  clear(): void
}

/** Ten times a second reads as steady and costs nothing. */
const intervalMs = 100

/** Before that a guess of what is left would jump. */
const settlingMs = 1000

const eraseLine = '\r\u001B[2K'

/**
 * A progress line on `stream`, or one that does nothing where `stream` is not a terminal.
 *
 * @param activity - what takes its time, such as `compressing`.
 */
export function createProgressLine(stream: NodeJS.WriteStream, activity: string): ProgressLine {
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
      const line = `${activity} ${lineOf(progress)}` + (isEarly ? '' : ` · ${duration(secondsLeft)} left`)
      // A line that wraps could not be erased.
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

function lineOf({ files, totalFiles, bytes, totalBytes }: Progress): string {
  const percent = totalBytes === 0 ? 100 : Math.floor((bytes / totalBytes) * 100)
  return `${percent} % · ${files}/${totalFiles} files · ${megabytes(bytes)}/${megabytes(totalBytes)} MB`
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}

function duration(seconds: number): string {
  const whole = Math.ceil(seconds)
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}
