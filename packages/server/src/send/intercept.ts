import type { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'

type MethodName = 'writeHead' | 'write' | 'end' | 'destroy'
type Methods = Readonly<Record<MethodName, (...given: never[]) => unknown>>

/** Calls a method of a base class, or the original method of a changed response. */
export function callMethodOf(
  owner: Methods,
  method: MethodName,
  response: object,
  given: readonly unknown[],
): unknown {
  return Reflect.apply(owner[method], response, given)
}

/**
 * Calls the method of the response's prototype: Node's class, or a prototype that another library has set.
 */
export function callOriginal(
  response: ServerResponse,
  method: MethodName,
  given: readonly unknown[],
): unknown {
  const original: ServerResponse = Object.getPrototypeOf(response)
  return callMethodOf(original, method, response, given)
}

/**
 * Replaces methods of a response.
 *
 * @returns a function that calls one of the previous methods.
 */
export function intercept(
  response: ServerResponse,
  methods: Readonly<Partial<Methods>>,
): (method: MethodName, ...given: readonly unknown[]) => unknown {
  const current: Methods = response
  const { writeHead, write, end, destroy } = current
  const before = { writeHead, write, end, destroy }
  Object.assign(response, methods)
  return (method, ...given) => callMethodOf(before, method, response, given)
}

/**
 * Makes `writableEnded` true as soon as `isEnded` returns true, although Node gets the last bytes later.
 */
export function markEnded<Target extends object>(
  target: Target,
  isEnded: (response: Target) => boolean,
): void {
  const original: object = Object.getPrototypeOf(target)
  Object.defineProperty(target, 'writableEnded', {
    configurable: true,
    get(this: Target): unknown {
      return isEnded(this) || Reflect.get(original, 'writableEnded', this)
    },
  })
}

/** Rejects a write after the end like Node over HTTP/1.1: with an error, while the answer continues. */
export function rejectWriteAfterEnd(
  response: EventEmitter & { readonly destroyed?: boolean },
  given: readonly unknown[],
): void {
  const error = Object.assign(new Error('write after end'), { code: 'ERR_STREAM_WRITE_AFTER_END' })
  process.nextTick(() => {
    if (!response.destroyed) response.emit('error', error)
    const callback = given.find((each) => typeof each === 'function')
    callback?.(error)
  })
}
