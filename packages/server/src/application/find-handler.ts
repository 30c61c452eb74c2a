import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import {
  adaptFetchHandler,
  isFunction,
  isObject,
  type NodeHandler,
  type SchemeReader,
  warnIfFetchHandler,
} from './node-handler.ts'

/** The possible exports of a handler, in order of precedence. Specific names come first. */
export const exportNames = ['fetch', 'default', 'handler', 'app', 'middleware'] as const

/**
 * Returns the handler that a module exports. It is a function from `Request` to `Response`, an object with such a `fetch`, a
 * Node handler (such as an Express application), or React Router's server build.
 *
 * @param path - the absolute path of the module, from which its own packages are resolved.
 */
export async function findHandler(
  module: Readonly<Record<string, unknown>>,
  path: string,
  readScheme?: SchemeReader,
): Promise<NodeHandler | undefined> {
  for (const name of exportNames) {
    const found = toNodeHandler(module[name], name, readScheme)
    if (found !== undefined) return found
  }
  const build = [module, module['default']].find(isServerBuild)
  if (build === undefined) return undefined
  return adaptFetchHandler(await createRouterHandler(build, path), readScheme)
}

function toNodeHandler(value: unknown, name: string, readScheme?: SchemeReader): NodeHandler | undefined {
  if (hasFetch(value)) return adaptFetchHandler((request) => value.fetch(request), readScheme)
  if (isFunction(value)) {
    // A Node handler has two or three parameters, a fetch handler one.
    const isFetch = name === 'fetch' || value.length === 1
    return isFetch ? adaptFetchHandler(value, readScheme) : warnIfFetchHandler(value)
  }
  // Polka and others have a `handler`. It gets no `next`, because Polka would then skip its own.
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

/** Uses the same copy of `react-router` as the build, because two copies have separate contexts. */
async function createRouterHandler(build: unknown, path: string): Promise<(request: Request) => unknown> {
  const url = pathToFileURL(createRequire(path).resolve('react-router')).href
  const { createRequestHandler }: Readonly<Record<string, unknown>> = await import(url)
  if (!isFunction(createRequestHandler)) throw new TypeError(`${url} has no createRequestHandler`)
  const handler = createRequestHandler(build, process.env['NODE_ENV'] ?? 'production')
  if (!isFunction(handler)) throw new TypeError(`${url}: createRequestHandler did not return a function`)
  return (request) => handler(request)
}
