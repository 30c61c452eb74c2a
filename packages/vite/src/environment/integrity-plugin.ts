import type { Plugin } from 'vite'
import type { EnvironmentSettings } from './environment-settings.ts'

/**
 * Creates a plugin that rejects pages with an `integrity` digest of the environment module, as some plugins write it.
 */
export function integrityPlugin({ environment: { path } }: EnvironmentSettings): Plugin {
  return {
    name: 'serve-dist:env-integrity',
    apply: 'build',
    enforce: 'post',

    // Check after other plugins have changed the pages.
    writeBundle: {
      order: 'post',
      handler(_output, bundle) {
        for (const file of Object.values(bundle)) {
          if (file.type !== 'asset' || !file.fileName.endsWith('.html')) continue
          if (hasIntegrity(Buffer.from(file.source).toString(), path))
            this.error(
              `${file.fileName}: "integrity" fixes the content of ${path}, so browsers reject other values. Exclude this file in the plugin that writes "integrity".`,
            )
        }
      },
    },
  }
}

/** Returns whether an element of a page, or its import map, contains the digest of a file. */
export function hasIntegrity(html: string, path: string): boolean {
  const elements = html.match(/<(?:link|script)\b[^>]*>|"[^"]*"\s*:\s*"sha\d{3}-/gi) ?? []
  return elements.some(
    (text) => text.includes(path) && (text.startsWith('"') || /\sintegrity\s*=/i.test(text)),
  )
}
