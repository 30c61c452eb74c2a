export { serveDist as default } from './plugin.ts'
export type { PreloadOptions, ServeDistOptions } from './serve-dist-options.ts'
