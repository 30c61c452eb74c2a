import { isatty } from 'node:tty'

/**
 * Acts on SIGHUP, as servers do. Where the signal tells that the terminal of the process was closed, it ends
 * the process, as it does by default.
 *
 * @returns leaves the signal alone again.
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
  process.on('SIGHUP', onSignal)
  return () => void process.off('SIGHUP', onSignal)
}
