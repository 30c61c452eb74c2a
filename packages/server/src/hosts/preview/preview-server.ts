import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'

/**
 * The part of `PreviewServer` that is used, equal in Vite 6 to 8. Importing Vite's types would make Vite a
 * peer dependency, and the production image would install it: docs/decisions/009.
 */
export interface PreviewServer {
  readonly config: PreviewServerConfig
  readonly middlewares: { use(middleware: PreviewMiddleware): unknown }
}

/** The part of Vite's `ResolvedConfig` that is used. */
export interface PreviewServerConfig {
  readonly root: string
  readonly base: string
  readonly appType: string
  readonly build: { readonly outDir: string }
  readonly environments: Readonly<Record<string, { readonly build: { readonly outDir: string } }>>
  readonly logger: PreviewLogger
  readonly plugins: readonly { readonly name: string }[]
  readonly preview: {
    readonly allowedHosts: readonly string[] | true
    readonly headers: OutgoingHttpHeaders
    readonly proxy?: Readonly<Record<string, unknown>> | undefined
  }
}

/** The part of Vite's `Logger` that is used. */
export interface PreviewLogger {
  warn(message: string): void
}

/** A request from Connect, with the target that the client sent. */
export type PreviewRequest = IncomingMessage & { readonly originalUrl?: string | undefined }

/** A middleware of Connect. */
export type PreviewMiddleware = (request: PreviewRequest, response: ServerResponse, next: PreviewNext) => void

/** Calls the next middleware, or the error handler. */
export type PreviewNext = (error?: unknown) => void
