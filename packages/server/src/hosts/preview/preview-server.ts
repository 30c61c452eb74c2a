import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'

/**
 * What is used of Vite's `PreviewServer`, alike in Vite 6 to 8. Vite's own types would make Vite a peer of this
 * package, and the production image would install it: docs/decisions/009.
 */
export interface PreviewServer {
  readonly config: PreviewServerConfig
  readonly middlewares: { use(middleware: PreviewMiddleware): unknown }
}

/** What is used of Vite's `ResolvedConfig`. */
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

/** What is used of Vite's `Logger`. */
export interface PreviewLogger {
  warn(message: string): void
}

/** A request as Connect hands it on, with the target that the client sent. */
export type PreviewRequest = IncomingMessage & { readonly originalUrl?: string | undefined }

/** A middleware of Connect. */
export type PreviewMiddleware = (request: PreviewRequest, response: ServerResponse, next: PreviewNext) => void

/** Passes a request on, or a failure to who answers failures. */
export type PreviewNext = (error?: unknown) => void
