import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequestListener } from '@remix-run/node-fetch-server'

/** Answers for what the build does not have; `next` is called with what went wrong, or without anything for a 404. */
export type NodeHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => unknown

/** Where the handler of a module is looked for, in this order. */
const exportNames = ['default', 'handler', 'fetch', 'app'] as const

/**
 * Finds the handler that a module exports: a Node handler (Express and Connect applications are ones too),
 * a function from `Request` to `Response`, or an object with such a `fetch`. `undefined` when it has none.
 */
export function findApplication(module: Readonly<Record<string, unknown>>): NodeHandler | undefined {
  for (const name of exportNames) {
    const found = toNodeHandler(module[name], name)
    if (found !== undefined) return found
  }
  return undefined
}

function toNodeHandler(value: unknown, name: string): NodeHandler | undefined {
  if (hasFetch(value)) return fromFetch((request) => value.fetch(request))
  if (isFunction(value)) {
    // `(req, res)` and `(req, res, next)` name what they take; `(request)` is the way of fetch.
    const isFetch = name === 'fetch' || value.length === 1
    return isFetch ? fromFetch(value) : value
  }
  // Polka, and others that hand out their handler; with a next of ours, Polka's own would never be called.
  if (isObject(value) && isFunction(value['handler'])) {
    const handler = value['handler'].bind(value)
    return (request, response) => handler(request, response)
  }
  return undefined
}

/** Methods that the standard of fetch forbids. */
const forbidden = new Set(['CONNECT', 'TRACE', 'TRACK'])

function fromFetch(answer: (request: Request) => unknown): NodeHandler {
  const checked = async (request: Request): Promise<Response> => {
    const response = await answer(request)
    if (response instanceof Response) return response
    throw new TypeError(`expected a Response for ${request.url}, found ${typeof response}`)
  }
  return (request, response, next) => {
    const { method = '', url = '', headers } = request
    // No Request can be made of these.
    if (forbidden.has(method) || !URL.canParse(`http://${headers.host ?? 'localhost'}${url}`)) return next()
    // What goes wrong is answered in one place for all kinds of handlers.
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
