import type { ServerHttp2Stream } from 'node:http2'
import { expectValidFields } from './valid-fields.ts'

/** Makes the methods of a stream reject invalid fields. An application may call them on `response.stream`. */
export function checkStreamFields(stream: ServerHttp2Stream): void {
  Object.assign(stream, checkedMethods)
}

const checkedMethods = {
  additionalHeaders: checkedMethod('additionalHeaders', 0),
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
    return Reflect.apply(Reflect.get(Object.getPrototypeOf(this), name), this, given)
  }
}
