import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequestListener } from '@remix-run/node-fetch-server'

/** Answers requests for unknown paths. It calls `next` with an error, or without one for a 404. */
export type NodeHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => unknown

/** Returns the scheme of a request's client, if a proxy names it. */
export type SchemeReader = (request: IncomingMessage) => 'http:' | 'https:' | undefined

/** Methods that the Fetch standard forbids. */
const forbidden = new Set(['CONNECT', 'TRACE', 'TRACK'])

/**
 * Adapts a function from `Request` to `Response` to a Node handler. It passes a request on if it returns nothing.
 *
 * @param readScheme - the scheme of the client; the default is that of the connection.
 */
export function adaptFetchHandler(
  answer: (request: Request) => unknown,
  readScheme?: SchemeReader,
): NodeHandler {
  const check = async (request: Request, passOn: () => void): Promise<Response> => {
    const response = await answer(request)
    if (response instanceof Response) return response
    if (response === undefined || response === null) {
      passOn()
      return await neverSettles()
    }
    throw new TypeError(
      `expected a Response for ${request.url}, found ${typeof response}. If this is a Node handler, declare two parameters (request, response).`,
    )
  }
  return (request, response, next) => {
    const { method = '', url = '', headers } = request
    // `Request` cannot represent these requests.
    if (forbidden.has(method) || !URL.canParse(`http://${headers.host ?? 'localhost'}${url}`)) return next()
    // `next` handles the errors of all kinds of handlers in the same way.
    const onError = async (error: unknown): Promise<Response> => {
      next(error ?? new Error(`the application threw ${String(error)}`))
      return await neverSettles()
    }
    const protocol = readScheme?.(request)
    const options = { onError, ...(protocol !== undefined && { protocol }) }
    return createRequestListener(async (each) => await check(each, next), options)(request, response)
  }
}

/** Keeps the listener from sending a second response. */
async function neverSettles(): Promise<never> {
  return await new Promise(() => undefined)
}

const suggestion = 'The handler looks like a fetch handler. Export it as `fetch`.'

/**
 * Wraps a Node handler, and suggests `fetch` if its first call shows that it is a fetch handler. React Router's handler, for
 * example, has a second parameter. It then fails at the URL, or returns a `Response`.
 */
export function warnIfFetchHandler(handler: NodeHandler): NodeHandler {
  let isFirst = true
  return async (request, response, next) => {
    const mayBeFetch = isFirst
    isFirst = false
    try {
      const answer = await handler(request, response, next)
      // Without this check, the client would wait forever. `Response` itself would load undici.
      if (Object.prototype.toString.call(answer) !== '[object Response]' || response.headersSent) return
    } catch (error) {
      if (mayBeFetch && wantedRequest(error)) throw new Error(suggestion, { cause: error })
      throw error
    }
    throw new TypeError(`the handler returned a Response, which Node ignores. ${suggestion}`)
  }
}

/** Whether a fetch handler failed because it received Node's request: its URL is only a path, and it has no `signal`. */
function wantedRequest(error: unknown): boolean {
  if (!(error instanceof TypeError)) return false
  return (
    ('code' in error && error.code === 'ERR_INVALID_URL') || error.message.includes("(reading 'aborted')")
  )
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && (typeof value === 'object' || typeof value === 'function')
}

export function isFunction(value: unknown): value is (...args: readonly unknown[]) => unknown {
  return typeof value === 'function'
}
