// A global symbol, because React Router loads its presets in a separate module graph.
const keyOf = (name: string): symbol => Symbol.for(`@serve-dist/vite/${name}`)

/**
 * Records that an integration is in the framework's configuration, for frameworks whose Vite plugins do not show it.
 */
export function registerIntegration(name: 'react-router' | 'vite-ssg'): void {
  Reflect.set(globalThis, keyOf(name), true)
}

/** Returns whether `registerIntegration` was called for the integration. */
export function isIntegrationRegistered(name: string): boolean {
  return Reflect.has(globalThis, keyOf(name))
}

/**
 * Returns the fix for files that were written after the compression. vite-ssg has no plugin, but sets an environment
 * variable.
 */
export function describeLateWriterFix(command: string): string {
  return process.env['VITE_SSG'] === 'true' && !isIntegrationRegistered('vite-ssg')
    ? `vite-ssg writes its pages after Vite's build. Import serveDist() from "@serve-dist/vite/vite-ssg".`
    : `Run this command after the last program that writes files: ${command}. If your build already ends with it, set serveDist({ pass: false }).`
}
