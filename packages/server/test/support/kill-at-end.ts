import type { ChildProcess } from 'node:child_process'

const running = new Set<ChildProcess>()

/** Kills a process at the end of the test file, if it still runs. */
export function killAtEnd(child: ChildProcess): void {
  running.add(child)
  child.once('exit', () => running.delete(child))
}

/**
 * `scripts/prepare-tests.mjs` calls this after each test file. The suites without isolation load a module once for many
 * files, so an `afterAll` in a module of test support runs only after the first one.
 */
export function killRunning(): void {
  for (const child of running) child.kill('SIGKILL')
}
