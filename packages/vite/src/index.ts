// Node returns `module.exports` for `require()` of an ES module.
export { serveDist as default, serveDist as 'module.exports' } from './plugin.ts'
export type { EnvironmentOptions, EnvironmentVariableOptions } from './environment/environment-settings.ts'
export type { PreloadOptions, ServeDistOptions } from './serve-dist-options.ts'
