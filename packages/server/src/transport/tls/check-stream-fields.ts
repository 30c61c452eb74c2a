import type { ServerHttp2Stream } from 'node:http2'
import { expectValidFields } from './expect-valid-fields.ts'

/** Makes the methods of a stream reject invalid fields. An application may call them on `response.stream`. */
export function checkStreamFields(stream: ServerHttp2Stream): void {
  Object.assign(stream, checkedMethods)
}

const checkedMethods = {
  additionalHeaders: checkedMethod('additionalHeaders', 0),
  pushStream: checkedMethod('pushStream', 0),
  respond: checkedMethod('respond', 0),
  respondWithFD: checkedMethod('respondWithFD', 1),
  respondWithFile: checkedMethod('respondWithFile', 1),
  sendTrailers: checkedMethod('sendTrailers', 0),
}

/** @param at - the index of the argument with the fields */
function checkedMethod(name: string, at: number) {
  return function (this: ServerHttp2Stream, ...given: readonly unknown[]): unknown {
    try {
      expectValidFields(given[at])
    } catch (error) {
      // `wantTrailers` has no caller, so an exception would end the process.
      if (name !== 'sendTrailers' || !(error instanceof Error)) throw error
      return this.destroy(error)
    }
    const call = Reflect.get(Object.getPrototypeOf(this), name)
    return Reflect.apply(call, this, name === 'pushStream' ? given.map(withCheckedStream) : given)
  }
}

/** Wraps the callback of `pushStream`, so that the pushed stream rejects invalid fields, too. */
function withCheckedStream(given: unknown): unknown {
  if (typeof given !== 'function') return given
  return (error: Error | null, pushed: ServerHttp2Stream, ...rest: readonly unknown[]): void => {
    if (error === null) checkStreamFields(pushed)
    Reflect.apply(given, undefined, [error, pushed, ...rest])
  }
}
