import { inspect } from 'node:util'
import { loadApplication } from './load-application.ts'
import { type Application, mountApplication } from './mount-application.ts'

/** Loads a module and mounts it; what it does wrong is told on standard error. */
export async function startApplication(file: string): Promise<Application> {
  return mountApplication(await loadApplication(file), reportApplicationError)
}

/** Tells what went wrong in an application, and while it answered what. */
export function reportApplicationError(error: unknown, what: string): void {
  const text = error instanceof Error && error.stack !== undefined ? error.stack : inspect(error)
  process.stderr.write(`serve-dist: the application failed (${what}): ${text}\n`)
}
