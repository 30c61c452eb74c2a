/**
 * Replaces all listeners of a signal. The new listener is added first: without any listener, Node stops
 * handling the signal and loses a pending one.
 */
export function replaceSignalListeners(signal: NodeJS.Signals, listener: () => void): void {
  const before = process.listeners(signal)
  process.on(signal, listener)
  for (const each of before) process.off(signal, each)
}
