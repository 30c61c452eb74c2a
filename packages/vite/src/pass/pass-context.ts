import type { Environment } from 'vite'

/** The part of a hook's context that a pass needs. */
export interface PassContext {
  readonly environment: Environment
  readonly meta: { readonly watchMode: boolean }
  warn(message: string): void
  error(log: { message: string; cause?: unknown; stack?: string }): never
}
