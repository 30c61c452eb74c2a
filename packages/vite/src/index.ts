export { serveDist as default } from './serve-dist.ts'
export type { PreloadOptions, ServeDistOptions } from './serve-dist-options.ts'
