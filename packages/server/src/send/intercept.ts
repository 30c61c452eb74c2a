import type { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'

type MethodName = 'writeHead' | 'write' | 'end' | 'destroy'
type Methods = Readonly<Record<MethodName, (...given: never[]) => unknown>>

/**
 * Calls a method of a response as another object has it: a class that ours extends, or the response before we changed
 * it.
 */
export function callMethodOf(
  owner: Methods,
  method: MethodName,
  response: object,
  given: readonly unknown[],
): unknown {
  return Reflect.apply(owner[method], response, given)
}

/** What a response does without us: as Node's class has it, or whoever gave it another prototype. */
export function callOriginal(
  response: ServerResponse,
  method: MethodName,
  given: readonly unknown[],
): unknown {
  const original: ServerResponse = Object.getPrototypeOf(response)
  return callMethodOf(original, method, response, given)
}

/**
 * Puts methods in the place of a response's own.
 *
 * @returns calls one that it had before.
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
 * Lets `writableEnded` be true of a response, or of all of a class, from the moment that somebody ended it, though
 * Node gets its last bytes later.
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

/** Refuses what is written after the end as Node does over HTTP/1.1: with an error, while the answer goes on. */
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
