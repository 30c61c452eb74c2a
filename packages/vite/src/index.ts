export { serveDist as default } from './plugin.ts'
export type { EnvironmentOptions, EnvironmentVariableOptions } from './environment/environment-settings.ts'
export type { PreloadOptions, ServeDistOptions } from './serve-dist-options.ts'
