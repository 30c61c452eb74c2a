import type { Plugin, ResolvedConfig, Rollup } from 'vite'
import { isInlineWorker } from '../record/policy-needs.ts'
import { environmentToken } from './environment-import.ts'
import type { EnvironmentSettings } from './environment-settings.ts'
import { importedUrl, isForeign, nameInBundle, pageUrl } from './environment-url.ts'
import {
  type EnvironmentWorkers,
  fileOf,
  type FoundStart,
  lineOf,
  originalLine,
  startsKey,
} from './environment-workers.ts'
import { importByExpression, type Parse } from './inline-worker.ts'
import { findWorkerStarts } from './worker-starts.ts'

/**
 * Creates a plugin for `worker.plugins` that records the imports of each worker's bundle. It runs after the environment
 * plugin.
 */
export function workerBundlePlugin(
  { environment }: EnvironmentSettings,
  { bundles }: EnvironmentWorkers,
): Plugin {
  let config: ResolvedConfig
  return {
    name: 'serve-dist:env-in-worker',
    configResolved: (resolved) => void (config = resolved),

    generateBundle: {
      order: 'post',
      handler(_output, bundle) {
        const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
        const entry = chunks.find(({ isEntry }) => isEntry)
        if (entry?.facadeModuleId == null) return
        const reaching = chunks.filter(({ imports, dynamicImports }) =>
          [...imports, ...dynamicImports].includes(nameInBundle(config, environment.path)),
        )
        const importers = reaching
          .flatMap(({ moduleIds }) => moduleIds)
          .filter((id) => importsEnvironment(this.getModuleInfo(id)))
        const isModule = entry.imports.length > 0 || /\bimport\.meta\b/.test(entry.code)
        bundles.set(fileOf(entry.facadeModuleId), {
          importers: [...new Set(importers)],
          url: importedUrl(config, environment.path, entry.fileName),
          isInFirstOnly: reaching.every((chunk) => chunk === entry),
          isModule,
        })
      },
    },
  }
}

function importsEnvironment(info: Rollup.ModuleInfo | null): boolean {
  return [...(info?.importedIds ?? []), ...(info?.dynamicallyImportedIds ?? [])].includes(environmentToken)
}

/**
 * Creates a plugin that records where workers start, and gives inline workers the absolute URL of the environment. It
 * runs after TypeScript is removed, and before Vite extracts workers.
 */
export function workerStartPlugin(
  { environment }: EnvironmentSettings,
  { starts, bundles }: EnvironmentWorkers,
): Plugin {
  let config: ResolvedConfig
  return {
    name: 'serve-dist:env-worker-starts',
    configResolved: (resolved) => void (config = resolved),

    async transform(code, id) {
      if (config.command !== 'build' || this.environment.config.consumer !== 'client') return null
      const inline = isInlineWorker(id) && !config.isWorker ? bundles.get(fileOf(id)) : undefined
      if (inline !== undefined && inline.importers.length > 0) {
        const parse: Parse = (text) => this.parse(text)
        return importInline(code, { config, path: environment.path, url: inline.url, parse })
      }
      const key = startsKey(id, config.isWorker)
      if (!/\bnew\s+(?:Shared)?Worker\b/.test(code) || !code.includes('import.meta')) {
        starts.delete(key)
        return null
      }
      const map = this.getCombinedSourcemap()
      const found: FoundStart[] = []
      for (const { url, isModule, offset } of findWorkerStarts(this.parse(code))) {
        const file = (await this.resolve(url, id))?.id
        if (file === undefined) continue
        const line = originalLine(code, offset, map)
        const kind = isModule === false ? 'classic' : 'file'
        found.push({ module: id, file: fileOf(file), line, kind, isNested: config.isWorker })
      }
      starts.set(key, found)
      return null
    },

    buildEnd: {
      order: 'pre',
      handler() {
        for (const id of this.getModuleIds()) {
          if (!/[?&](?:shared)?worker(?:&|$)/.test(id)) continue
          const isInline = /[?&]inline\b/.test(id)
          const kind = !isInline ? 'file' : isInlineWorker(id) ? 'blob' : 'data'
          const importers = this.getModuleInfo(id)?.importers ?? []
          const name = id.slice(id.lastIndexOf('/') + 1)
          starts.set(
            startsKey(id, config.isWorker),
            importers.map((module) => {
              const line = lineOf(module, new RegExp(name.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)))
              return { module, file: fileOf(id), line, kind, isNested: config.isWorker }
            }),
          )
        }
      },
    },
  }
}

function importInline(
  wrapper: string,
  { config, path, url, parse }: InlineContext,
): { code: string; map: { mappings: '' } } | null {
  const expression = isForeign(importedUrl(config, path, ''))
    ? `new URL(${JSON.stringify(pageUrl(config, path, ''))}, location.href).href`
    : `new URL(${JSON.stringify(environmentToken)}, '' + import.meta.url).href`
  const code = importByExpression(wrapper, { url, expression, parse })
  return code === undefined ? null : { code, map: { mappings: '' } }
}

interface InlineContext {
  readonly config: ResolvedConfig
  readonly path: string
  /** URL that the worker's text imports. */
  readonly url: string
  readonly parse: Parse
}
