import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  environmentDefaults,
  environmentModule,
  isSecretName,
  OperatorError,
  readEnvironment,
} from '@serve-dist/manifest'
import MagicString from 'magic-string'
import type { Plugin, ResolvedConfig, Rollup } from 'vite'
import { exactly } from '../exactly.ts'
import { listedTwice, warnOnce } from '../instances.ts'
import { declareEnvironment } from './declare-environment.ts'
import { environmentImport, environmentToken } from './environment-import.ts'
import type { EnvironmentSettings } from './environment-settings.ts'
import { type EnvironmentWorkers, importText, placeOfImport } from './environment-workers.ts'
import { importedUrl, nameInBundle, pageUrl } from './environment-url.ts'
import { importsEnvironment } from './imports-environment.ts'
import { linkEnvironment } from './link-environment.ts'
import { loadVariables } from './load-variables.ts'
import { findNamedImports } from './find-named-imports.ts'
import { environmentReader, readerModule, serverModule } from './server-module.ts'

const resolvedImport = `\0${environmentImport}`

const environmentPluginName = 'serve-dist:env'

/**
 * Creates the plugin for `virtual:serve-dist/env`. In a client build, chunks import one module outside the bundle by
 * its URL. In a server build, the module reads the process's environment. In development, it contains the values that
 * Vite loads.
 */
export function environmentPlugin(
  settings: EnvironmentSettings | undefined,
  { bundles }: EnvironmentWorkers,
): Plugin {
  let config: ResolvedConfig
  /** Client modules that import the environment. */
  const importing = new Set<string>()

  return {
    name: environmentPluginName,
    enforce: 'pre',

    // Up to Vite 7, the optimizer of dependencies does not call plugins.
    configEnvironment: () => ({ optimizeDeps: { exclude: [environmentImport] } }),

    configResolved(resolved) {
      config = resolved
      if (settings === undefined) return
      const { root, logger, publicDir } = resolved
      const { path, variables } = settings.environment
      if (publicDir !== '' && existsSync(join(publicDir, path))) {
        throw new OperatorError('SD_OPTION_INVALID', [
          `${join(publicDir, path)}: the build writes the values of "env" to a file of this name. Rename your file, or set another name with "envFileName".`,
        ])
      }
      declareEnvironment(settings, root, (message) => logger.warn(`[serve-dist] ${message}`))
      const secrets = Object.keys(variables).filter(isSecretName)
      warnOnce(
        resolved,
        secrets.map(
          (name) =>
            `[serve-dist] env.${name}: all visitors can read this value in ${path}. Remove it from "env" if it is a secret.`,
        ),
      )
    },

    resolveId: {
      filter: { id: exactly(environmentReader, environmentImport) },
      handler(id, importer, asked) {
        if (id === environmentReader) return id
        if (id !== environmentImport) return undefined
        if (settings === undefined) {
          const isTwice = config.plugins.filter(({ name }) => name === environmentPluginName).length > 1
          if (isTwice) this.error(listedTwice)
          this.error(
            `"${environmentImport}" has no values. Declare them in the option "env", such as serveDist({ env: { API_URL: { required: true } } }).`,
          )
        }
        // With `moduleSideEffects: false`, chunks that do not use the environment do not import it.
        if (!isForClients(this.environment.config, config))
          return { id: resolvedImport, moduleSideEffects: false }
        if (importer !== undefined) {
          importing.add(importer)
          // Only Rolldown reports `require()`. Rollup has already converted it into an import.
          if ('kind' in asked && asked.kind === 'require-call')
            this.error(
              `${placeOfImport(config.root, importer)}: browsers cannot require() a module. Import it instead.`,
            )
        }
        return { id: environmentToken, external: true, moduleSideEffects: false }
      },
    },

    load: {
      filter: { id: exactly(environmentReader, resolvedImport) },
      async handler(id) {
        if (id === environmentReader) return readerModule()
        if (id !== resolvedImport || settings === undefined) return undefined
        if (config.command === 'build') return serverModule(settings.environment)
        const { values, problems } = readEnvironment(settings.environment, await loadVariables(config))
        if (problems.length > 0) {
          const { envDir, mode } = config
          const file = envDir === false ? '' : `, or in a file such as ${join(envDir, `.env.${mode}`)}`
          this.error(`set these variables in the environment${file}:\n  ${problems.join('\n  ')}`)
        }
        return environmentModule(values)
      },
    },

    // Check before the build writes to the folder.
    buildEnd: {
      order: 'pre',
      handler(error) {
        if (error !== undefined) return
        const parse = (code: string): unknown => {
          try {
            return this.parse(code)
          } catch {
            // The bundler may accept modules that are not JavaScript.
            return undefined
          }
        }
        const problems = [...importing].flatMap((id) => {
          const [name] = findNamedImports(parse(this.getModuleInfo(id)?.code ?? ''))
          return name === undefined ? [] : [`${placeOfImport(config.root, id)}: ${namedImportMessage(name)}`]
        })
        if (problems.length > 0) this.error(problems.join('\n  '))
      },
    },

    // Replace before minifiers run, because they may change quotes, and before hashes are computed.
    renderChunk(code, chunk) {
      if (settings === undefined || !code.includes(environmentToken)) return null
      const text = new MagicString(code)
      text.replaceAll(environmentToken, importedUrl(config, settings.environment.path, chunk.fileName))
      return { code: text.toString(), map: text.generateMap({ hires: 'boundary' }) }
    },

    generateBundle: {
      order: 'pre',
      handler(_output, bundle) {
        if (settings === undefined || !isForClients(this.environment.config, config)) return
        const { path } = settings.environment
        const own = nameInBundle(config, path)
        let isImported = false
        for (const file of Object.values(bundle)) {
          if (file.type === 'asset') {
            if (isCopy(file)) this.error(copyMessage(file))
            continue
          }
          if ([...file.imports, ...file.dynamicImports].includes(environmentImport))
            this.error(`${file.fileName}: ${externalMessage}`)
          for (const kind of ['imports', 'dynamicImports'] as const) {
            if (!file[kind].includes(environmentToken)) continue
            isImported = true
            // Vite expects names of files.
            file[kind] = file[kind].map((name) => (name === environmentToken ? own : name))
          }
        }
        if (!isImported) {
          // In an application of several environments, only server code may import the environment.
          const isOfWorkers = [...bundles.values()].some(({ importers }) => importers.length > 0)
          if (config.builder === undefined && !config.isWorker && !isOfWorkers) warnOnce(config, [unused])
          return
        }
        if (bundle[path] !== undefined) {
          this.error(`the build already contains ${path}. Set another name with "envFileName".`)
        }
        const source = environmentModule(environmentDefaults(settings.environment))
        // With `name`, Vite's own manifest lists the file, which chunks name among their imports.
        this.emitFile({ type: 'asset', name: path, fileName: path, source })
      },
    },

    transformIndexHtml: {
      order: 'post',
      handler(html, { chunk, bundle = {}, path: page }) {
        if (settings === undefined || chunk === undefined || config.build.modulePreload === false) return html
        const { path } = settings.environment
        if (!importsEnvironment(chunk, nameInBundle(config, path), bundle)) return html
        return linkEnvironment(html, pageUrl(config, path, page.slice(1)))
      },
    },
  }
}

const unused = `[serve-dist] env: no script for browsers imports "${environmentImport}", so this build uses no variables of the server. Import it, or remove "env".`

const externalMessage = `browsers cannot resolve "${environmentImport}", which rollupOptions.external matches. Exclude this name from that option.`

function namedImportMessage(name: string): string {
  return `the environment has no export "${name}". Write import env from "${environmentImport}", and env.${name}.`
}

/** Returns whether Vite copied a script as an asset because of `new URL('./sw.js', import.meta.url)`. */
function isCopy({ fileName, source }: Rollup.OutputAsset): boolean {
  return /\.[cm]?[jt]sx?$/.test(fileName) && importText.test(Buffer.from(source).toString())
}

function copyMessage({ fileName, originalFileNames }: Rollup.OutputAsset): string {
  return `${fileName} (${originalFileNames.join(', ')}): Vite copies this script unchanged, so browsers cannot resolve "${environmentImport}". Make it an input of the build (build.rollupOptions.input), and register it with { type: 'module' }.`
}

function isForClients({ consumer }: { readonly consumer: string }, { command }: ResolvedConfig): boolean {
  return command === 'build' && consumer === 'client'
}
