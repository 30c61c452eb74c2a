import type { Logger } from 'vite'

/** A logger that records messages. */
export interface RecordingLogger extends Logger {
  readonly infos: string[]
  readonly warnings: string[]
  readonly errors: string[]
}

export function createRecordingLogger(): RecordingLogger {
  const infos: string[] = []
  const warnings: string[] = []
  const errors: string[] = []
  return {
    infos,
    warnings,
    errors,
    hasWarned: false,
    info: (message) => void infos.push(message),
    warn: (message) => void warnings.push(message),
    warnOnce: (message) => void (warnings.includes(message) || warnings.push(message)),
    error: (message) => void errors.push(message),
    clearScreen: () => {},
    hasErrorLogged: () => false,
  }
}
