import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { servedBase } from '@serve-dist/manifest'
import type { Handler } from '../handler.ts'
import type { ResolvedPreviewDistOptions } from './preview-dist-options.ts'
import { passesHostChecks, matchesProxy } from './preview-guards.ts'
import type { PreviewMiddleware, PreviewNext, PreviewRequest, PreviewServer } from './preview-server.ts'
import { createPreviewSite } from './preview-site.ts'

type Middleware = (...parameters: Parameters<PreviewMiddleware>) => Promise<void>

/**
 * Makes a preview answer like the production server. The handler runs after the middlewares of other
 * plugins and before Vite's own files, and it skips paths of `preview.proxy`. Without a valid build, Vite
 * answers and a warning gives the reason.
 *
 * `isGuarded`: whether Vite checks host and origin before it calls a plugin's middleware (not in Vite 6).
 */
export async function configurePreview(
  server: PreviewServer,
  isGuarded: boolean,
  options: ResolvedPreviewDistOptions,
): Promise<() => void> {
  const { config, middlewares } = server
  const base = servedBase(config.base)
  const directory = resolve(config.root, config.environments['client']?.build.outDir ?? config.build.outDir)
  const currentHandler = await createPreviewSite(directory, { base, logger: config.logger, options })

  const handlerFor = async (request: PreviewRequest): Promise<Handler | undefined> => {
    const isProxied = matchesProxy(request.originalUrl ?? '/', config.preview.proxy)
    return isProxied || !(isGuarded || passesHostChecks(request, config.preview))
      ? undefined
      : currentHandler()
  }

  // Known paths, before Vite's own middlewares.
  const answerKnown: Middleware = async (request, response, next) => {
    const handler = await handlerFor(request)
    if (handler === undefined) return next()
    for (const [name, value] of Object.entries(config.preview.headers)) {
      if (value !== undefined) response.setHeader(name, value)
    }
    handler(request, response, () => settle(answerUnknown(request, response, next), next))
  }

  // Other plugins may answer unknown paths, but Vite must not answer with a page or a file.
  const answerUnknown: Middleware = async (request, response, next) => {
    const handler = await handlerFor(request)
    const path = pathInBase(request.originalUrl ?? '/', base)
    if (handler === undefined || path === undefined) return next()
    const isPage = config.appType !== 'custom' && asksForPage(request)
    if (isPage || (await isFile(directory, path))) handler(request, response)
    else next()
  }

  // The final 404 handler.
  const answerRest: Middleware = async (request, response, next) => {
    const handler = await handlerFor(request)
    if (handler === undefined) return next()
    // Vite has removed the base and may have replaced the path with `/index.html`.
    request.url = request.originalUrl
    handler(request, response)
  }

  middlewares.use((request, response, next) => settle(answerKnown(request, response, next), next))
  return () => {
    // An application with its own server answers unknown paths.
    if (config.appType === 'custom') return
    middlewares.use((request, response, next) => settle(answerRest(request, response, next), next))
  }
}

/** Connect handles the error of a middleware. */
function settle(answered: Promise<void>, next: PreviewNext): void {
  // oxlint-disable-next-line promise/no-callback-in-promise -- Connect's middlewares speak by callback
  answered.catch(next)
}

/**
 * Returns the decoded path relative to the build's folder, or `undefined` outside of `base` or if
 * malformed.
 */
function pathInBase(target: string, base: string): string | undefined {
  try {
    const path = decodeURIComponent(target.replace(/[?#].*$/s, ''))
    return path.startsWith(base) ? path.slice(base.length) : undefined
  } catch {
    return undefined
  }
}

function asksForPage({ method, headers }: PreviewRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && (headers.accept ?? '').includes('text/html')
}

async function isFile(directory: string, path: string): Promise<boolean> {
  const file = resolve(directory, `./${path}`)
  if (!file.startsWith(join(directory, '/'))) return false
  return (await stat(file).catch(() => undefined))?.isFile() === true
}
