import { isatty } from 'node:tty'

/**
 * Acts on SIGHUP, as servers do. Where the signal tells that the terminal of the process was closed, it ends
 * the process, as it does by default.
 *
 * @returns acts no more; a process that is stopping is not ended by the signal either.
 */
export function onHangUp(act: () => void): () => void {
  const hasTerminal = isatty(0)
  const onSignal = (): void => {
    if (!hasTerminal || isatty(0)) {
      act()
      return
    }
    process.off('SIGHUP', onSignal)
    process.kill(process.pid, 'SIGHUP')
  }
  // Whoever listened while the modules were loaded (`bin/serve-dist.js`).
  process.removeAllListeners('SIGHUP')
  process.on('SIGHUP', onSignal)
  return () => {
    process.on('SIGHUP', () => {})
    process.off('SIGHUP', onSignal)
  }
}
