import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequestListener } from '@remix-run/node-fetch-server'

/** Answers requests for which the build has nothing; it calls `next` with an error, or with nothing for a 404. */
export type NodeHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => unknown

/** Methods that the fetch standard forbids. */
const forbidden = new Set(['CONNECT', 'TRACE', 'TRACK'])

/** A Node handler of a function from `Request` to `Response`. */
export function adaptFetchHandler(answer: (request: Request) => unknown): NodeHandler {
  const checked = async (request: Request): Promise<Response> => {
    const response = await answer(request)
    if (response instanceof Response) return response
    throw new TypeError(
      `expected a Response for ${request.url}, found ${typeof response}; a Node handler declares two parameters (request, response)`,
    )
  }
  return (request, response, next) => {
    const { method = '', url = '', headers } = request
    // `Request` cannot represent these.
    if (forbidden.has(method) || !URL.canParse(`http://${headers.host ?? 'localhost'}${url}`)) return next()
    // One place answers the errors of all kinds of handlers; `next` takes these two for a request that is passed on.
    const onError = async (error: unknown): Promise<Response> => {
      next(error ?? new Error(`the application threw ${String(error)}`))
      // Once this settled, a request that `Request` does not take would get a second answer.
      return await new Promise(() => undefined)
    }
    return createRequestListener(checked, { onError })(request, response)
  }
}

const suggestion = 'this looks like a fetch handler: export it as `fetch`'

/**
 * A function that counts as a Node handler by its parameters, and says so in the log where its first answer shows that
 * it is a fetch handler: React Router's has a second parameter, and fails at the URL, or answers with a `Response`.
 */
export function warnIfFetchHandler(handler: NodeHandler): NodeHandler {
  let isFirst = true
  return async (request, response, next) => {
    const mayBeFetch = isFirst
    isFirst = false
    try {
      const answer = await handler(request, response, next)
      // Without it, the client would wait for an end that never comes. `Response` itself would load undici.
      if (Object.prototype.toString.call(answer) !== '[object Response]' || response.headersSent) return
    } catch (error) {
      if (mayBeFetch && wantedRequest(error)) throw new Error(suggestion, { cause: error })
      throw error
    }
    throw new TypeError(`the handler returned a Response, which Node ignores; ${suggestion}`)
  }
}

/** Whether a function from `Request` fails so where it gets Node's: a path is no URL, and there is no `signal`. */
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
