// Not of this module: React Router loads our preset, which it transforms, beside the module of Vite's configuration.
const keyOf = (name: string): symbol => Symbol.for(`@serve-dist/vite/${name}`)

/** Notes that an integration of which a build's plugins do not tell stands in the framework's configuration. */
export function registerIntegration(name: 'react-router' | 'vite-ssg'): void {
  Reflect.set(globalThis, keyOf(name), true)
}

/** Whether `registerIntegration` heard of it. */
export function isIntegrationRegistered(name: string): boolean {
  return Reflect.has(globalThis, keyOf(name))
}

/** What to do about files that somebody wrote after the pass. vite-ssg has no plugin: it tells its pages of itself. */
export function describeLateWriterFix(command: string): string {
  return process.env['VITE_SSG'] === 'true' && !isIntegrationRegistered('vite-ssg')
    ? `vite-ssg writes its pages after Vite's build: take serveDist() from "@serve-dist/vite/vite-ssg"`
    : `run this when all is written: ${command} (and give serveDist({ pass: false }) where your build ends with it)`
}
