#!/usr/bin/env node
// Before anything is loaded: the system keeps a signal that nobody listens for from process 1 of a container.
for (const [signal, code] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
]) {
  process.once(signal, () => process.exit(code))
}
// It asks for a build that is there, and the one that is loaded soon will be that.
process.on('SIGHUP', () => {})
const { runCommand } = await import('../dist/command/run-command.js')

await runCommand(process.argv)
