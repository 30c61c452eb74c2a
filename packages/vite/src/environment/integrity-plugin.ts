import type { Plugin } from 'vite'
import type { EnvironmentSettings } from './environment-settings.ts'

/** Refuses pages that say which bytes the module of the environment has, as plugins for `integrity` write it. */
export function integrityPlugin({ environment: { path } }: EnvironmentSettings): Plugin {
  return {
    name: 'serve-dist:env-integrity',
    apply: 'build',
    enforce: 'post',

    // When other plugins have changed all pages.
    writeBundle: {
      order: 'post',
      handler(_output, bundle) {
        for (const file of Object.values(bundle)) {
          if (file.type !== 'asset' || !file.fileName.endsWith('.html')) continue
          if (hasIntegrity(Buffer.from(file.source).toString(), path))
            this.error(
              `${file.fileName}: "integrity" says which bytes ${path} has, and browsers refuse it with other values; let the plugin that writes it leave this file out`,
            )
        }
      },
    },
  }
}

/** Whether an element of a page, or its import map, has the digest of a file. */
export function hasIntegrity(html: string, path: string): boolean {
  const elements = html.match(/<(?:link|script)\b[^>]*>|"[^"]*"\s*:\s*"sha\d{3}-/gi) ?? []
  return elements.some(
    (text) => text.includes(path) && (text.startsWith('"') || /\sintegrity\s*=/i.test(text)),
  )
}
