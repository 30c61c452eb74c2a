import { mediaTypeOf } from './media-type-of.ts'

const carriedTypes =
  /^(?:text\/(?:css|javascript)(?:;|$)|(?:font|image)\/|application\/(?:wasm|vnd\.ms-fontobject)$)/
const serviceWorker = /(?:(?:^|[/._-])sw|service[._-]?worker|ngsw-worker|sdkworker)\.[cm]?js$/i

/**
 * Returns whether a later build may carry a file, by its name: a script, style, font, image or WebAssembly module. Pages
 * and service workers could control pages of the later build.
 */
export function isCarried(path: string): boolean {
  return carriedTypes.test(mediaTypeOf(path)) && !serviceWorker.test(path)
}
