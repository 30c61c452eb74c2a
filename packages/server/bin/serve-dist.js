#!/usr/bin/env node
// PID 1 gets no default signal handlers, so install ours before the slow imports.
for (const [signal, code] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
]) {
  process.once(signal, () => process.exit(code))
}
// SIGHUP means reload. Nothing is loaded yet, and the first load picks up the newest build anyway.
process.on('SIGHUP', () => {})
const { runCommand } = await import('../dist/command/run-command.js')

await runCommand(process.argv)
