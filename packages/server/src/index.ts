export { createHandler, type Handler } from './hosts/handler.ts'
export type { HandlerOptions } from './hosts/handler-options.ts'
export { loadSite } from './load/load-site.ts'
export type { LoadSiteOptions } from './load/load-options.ts'
export type { StoreOptions } from './load/store-options.ts'
export { openLiveSite } from './live/open-live-site.ts'
export type { LiveSite } from './live/open-staged-site.ts'
export type { ReloadOutcome, ReloadRefusal } from './live/reload-outcome.ts'
export type { OperationsOptions } from './operations/operations-options.ts'
export { defineConfig, type ServeDistConfig } from './rules/read-config.ts'
export { type RunningServer, type ServedSite, serve } from './serve/serve.ts'
export type { ServeOptions } from './serve/serve-options.ts'
export type {
  Answer,
  AnswerContent,
  Redirect,
  Representation,
  Resource,
  Site,
  SiteSummary,
  StoredBytes,
} from './site/site.ts'
export type { SiteHolder } from './site/site-holder.ts'
export type { StoreFigures, StoreState, StoreView } from './site/store-view.ts'
export type { LiveSiteOptions } from './load/load-options.ts'
export type { TlsOptions } from './transport/tls/tls-options.ts'
export { type Fallback, OperatorError, type OperatorErrorCode } from '@serve-dist/manifest'
