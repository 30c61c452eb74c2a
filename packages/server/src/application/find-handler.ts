import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import {
  adaptFetchHandler,
  isFunction,
  isObject,
  type NodeHandler,
  warnIfFetchHandler,
} from './node-handler.ts'

/** The exports that may be the handler, in this order: a name that says what it is comes first. */
export const exportNames = ['fetch', 'default', 'handler', 'app', 'middleware'] as const

/**
 * The handler that a module exports: a function from `Request` to `Response`, an object with such a `fetch`, a Node
 * handler (such as an Express or Connect application), or React Router's server build.
 *
 * @param path - of the module, absolute: the application's own packages are found from there.
 */
export async function findHandler(
  module: Readonly<Record<string, unknown>>,
  path: string,
): Promise<NodeHandler | undefined> {
  for (const name of exportNames) {
    const found = toNodeHandler(module[name], name)
    if (found !== undefined) return found
  }
  const build = [module, module['default']].find(isServerBuild)
  return build === undefined ? undefined : adaptFetchHandler(await createRouterHandler(build, path))
}

function toNodeHandler(value: unknown, name: string): NodeHandler | undefined {
  if (hasFetch(value)) return adaptFetchHandler((request) => value.fetch(request))
  if (isFunction(value)) {
    // A Node handler has two or three parameters, a fetch handler one.
    const isFetch = name === 'fetch' || value.length === 1
    return isFetch ? adaptFetchHandler(value) : warnIfFetchHandler(value)
  }
  // Polka and others have a `handler`; given our `next`, Polka would never call its own.
  if (isObject(value) && isFunction(value['handler'])) {
    const handler = value['handler'].bind(value)
    return (request, response) => handler(request, response)
  }
  return undefined
}

function hasFetch(value: unknown): value is { fetch(request: Request): unknown } {
  return isObject(value) && isFunction(value['fetch'])
}

function isServerBuild(value: unknown): boolean {
  return isObject(value) && ['entry', 'routes', 'assets'].every((name) => isObject(value[name]))
}

/** `createRequestHandler` of the `react-router` that the build itself imports: contexts of two copies never meet. */
async function createRouterHandler(build: unknown, path: string): Promise<(request: Request) => unknown> {
  const url = pathToFileURL(createRequire(path).resolve('react-router')).href
  const { createRequestHandler }: Readonly<Record<string, unknown>> = await import(url)
  if (!isFunction(createRequestHandler)) throw new TypeError(`${url} has no createRequestHandler`)
  const handler = createRequestHandler(build, process.env['NODE_ENV'] ?? 'production')
  if (!isFunction(handler)) throw new TypeError(`${url}: createRequestHandler made no function`)
  return (request) => handler(request)
}
