/**
 * Puts a listener in the place of all that a signal has. It is added before they are removed: without any, Node stops
 * listening to the system, and forgets a signal that has arrived but was not yet handed on.
 */
export function replaceSignalListeners(signal: NodeJS.Signals, listener: () => void): void {
  const before = process.listeners(signal)
  process.on(signal, listener)
  for (const each of before) process.off(signal, each)
}
