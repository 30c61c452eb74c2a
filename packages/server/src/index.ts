export { createHandler, type Handler } from './handler.ts'
export type { HandlerOptions } from './handler-options.ts'
export { ListenError } from './listen.ts'
export { ApplicationError } from './load-application.ts'
export { loadSite } from './load-site.ts'
export type { LoadSiteOptions } from './load-site-options.ts'
export { defineConfig, type ServeDistConfig } from './read-config.ts'
export { type RunningServer, serve } from './serve.ts'
export type { ServeOptions } from './serve-options.ts'
export type {
  Answer,
  AnswerContent,
  Fallback,
  FileFingerprint,
  Redirect,
  Representation,
  RepresentationCoding,
  Resource,
  Site,
  SiteSummary,
  StoredBytes,
} from './site.ts'
export { SiteError } from './site-error.ts'
