import { stat } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createRequestListener } from '@remix-run/node-fetch-server'
import { OperatorError } from '@serve-dist/manifest'

/** Answers requests for which the build has nothing; it calls `next` with an error, or with nothing for a 404. */
export type NodeHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => unknown

/**
 * Loads the module that answers requests for which the build has nothing.
 *
 * @throws OperatorError when it does not exist, fails to load or exports no handler.
 */
export async function loadApplication(file: string): Promise<NodeHandler> {
  const path = resolve(file)
  const found = await stat(path).catch(() => undefined)
  if (found?.isFile() !== true) {
    throw unusable(`${file}: no such module; build it first (vite build --ssr <entry>)`)
  }
  const application = findApplication(await importModule(file, path))
  if (application !== undefined) return application
  throw unusable(
    `${file}: exports no handler; export as default, handler, fetch or app a function (req, res), a function from Request to Response, or an object with such a fetch`,
  )
}

function unusable(message: string, cause?: unknown): OperatorError {
  return new OperatorError('SD_APPLICATION_UNUSABLE', message, { cause })
}

async function importModule(file: string, path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const module: Readonly<Record<string, unknown>> = await import(pathToFileURL(path).href)
    return module
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
    throw unusable(`${file}: cannot be loaded: ${reason}`, cause)
  }
}

/** The exports that may be the handler, in this order. */
const exportNames = ['default', 'handler', 'fetch', 'app'] as const

/**
 * The handler that a module exports: a Node handler (such as an Express or Connect application), a function from
 * `Request` to `Response`, or an object with such a `fetch`.
 */
function findApplication(module: Readonly<Record<string, unknown>>): NodeHandler | undefined {
  for (const name of exportNames) {
    const found = toNodeHandler(module[name], name)
    if (found !== undefined) return found
  }
  return undefined
}

function toNodeHandler(value: unknown, name: string): NodeHandler | undefined {
  if (hasFetch(value)) return fromFetch((request) => value.fetch(request))
  if (isFunction(value)) {
    // A Node handler has two or three parameters, a fetch handler one.
    const isFetch = name === 'fetch' || value.length === 1
    return isFetch ? fromFetch(value) : value
  }
  // Polka and others have a `handler`; given our `next`, Polka would never call its own.
  if (isObject(value) && isFunction(value['handler'])) {
    const handler = value['handler'].bind(value)
    return (request, response) => handler(request, response)
  }
  return undefined
}

/** Methods that the fetch standard forbids. */
const forbidden = new Set(['CONNECT', 'TRACE', 'TRACK'])

function fromFetch(answer: (request: Request) => unknown): NodeHandler {
  const checked = async (request: Request): Promise<Response> => {
    const response = await answer(request)
    if (response instanceof Response) return response
    throw new TypeError(`expected a Response for ${request.url}, found ${typeof response}`)
  }
  return (request, response, next) => {
    const { method = '', url = '', headers } = request
    // `Request` cannot represent these.
    if (forbidden.has(method) || !URL.canParse(`http://${headers.host ?? 'localhost'}${url}`)) return next()
    // One place answers the errors of all kinds of handlers.
    const onError = (error: unknown): void => next(error)
    return createRequestListener(checked, { onError })(request, response)
  }
}

function hasFetch(value: unknown): value is { fetch(request: Request): unknown } {
  return isObject(value) && isFunction(value['fetch'])
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && (typeof value === 'object' || typeof value === 'function')
}

function isFunction(value: unknown): value is (...args: readonly unknown[]) => unknown {
  return typeof value === 'function'
}
