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
import { warnOnce } from '../instances.ts'
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

/**
 * Gives applications `virtual:serve-dist/env`. In a client's build it is one module outside of the bundle, which chunks
 * import by its real URL; in a server's it reads the process's environment; in development it holds what Vite loads.
 */
export function environmentPlugin(
  settings: EnvironmentSettings | undefined,
  { bundles }: EnvironmentWorkers,
): Plugin {
  let config: ResolvedConfig
  /** Modules for browsers that import it. */
  const importing = new Set<string>()

  return {
    name: 'serve-dist:env',
    enforce: 'pre',

    // Up to Vite 7, what bundles dependencies in development does not ask plugins.
    configEnvironment: () => ({ optimizeDeps: { exclude: [environmentImport] } }),

    configResolved(resolved) {
      config = resolved
      if (settings === undefined) return
      const { root, logger, publicDir } = resolved
      const { path, variables } = settings.environment
      if (publicDir !== '' && existsSync(join(publicDir, path))) {
        throw new OperatorError('SD_OPTION_INVALID', [
          `${join(publicDir, path)}: the build writes the values of "env" to this file; rename yours, or choose another name by "envFileName"`,
        ])
      }
      declareEnvironment(settings, root, (message) => logger.warn(`[serve-dist] ${message}`))
      const secrets = Object.keys(variables).filter(isSecretName)
      warnOnce(
        resolved,
        secrets.map((name) => `[serve-dist] env.${name}: everybody can read it in ${path}; is it a secret?`),
      )
    },

    resolveId(id, importer, asked) {
      if (id === environmentReader) return id
      if (id !== environmentImport) return undefined
      if (settings === undefined) {
        this.error(
          `"${environmentImport}": say what is in it by the option "env", such as serveDist({ env: { API_URL: { required: true } } })`,
        )
      }
      // `moduleSideEffects`: no chunk imports it whose code does not use it.
      if (!isForClients(this.environment.config, config))
        return { id: resolvedImport, moduleSideEffects: false }
      if (importer !== undefined) {
        importing.add(importer)
        // Rolldown says so; Rollup has made it an import by then.
        if ('kind' in asked && asked.kind === 'require-call')
          this.error(`${placeOfImport(config.root, importer)}: no browser can require() a module; import it`)
      }
      return { id: environmentToken, external: true, moduleSideEffects: false }
    },

    async load(id) {
      if (id === environmentReader) return readerModule()
      if (id !== resolvedImport || settings === undefined) return undefined
      if (config.command === 'build') return serverModule(settings.environment)
      const { values, problems } = readEnvironment(settings.environment, await loadVariables(config))
      if (problems.length > 0) {
        const { envDir, mode } = config
        const file = envDir === false ? '' : `, or in a file such as ${join(envDir, `.env.${mode}`)}`
        this.error(`set these in the environment${file}:\n  ${problems.join('\n  ')}`)
      }
      return environmentModule(values)
    },

    // Before the folder is touched.
    buildEnd: {
      order: 'pre',
      handler(error) {
        if (error !== undefined) return
        const parse = (code: string): unknown => {
          try {
            return this.parse(code)
          } catch {
            // The bundler may take what is no JavaScript.
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

    // Before minifiers, which may write another kind of quotes, and before hashes.
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
            // Vite follows the names of files.
            file[kind] = file[kind].map((name) => (name === environmentToken ? own : name))
          }
        }
        if (!isImported) {
          // An application of several environments may import it in those for servers alone.
          const isOfWorkers = [...bundles.values()].some(({ importers }) => importers.length > 0)
          if (config.builder === undefined && !config.isWorker && !isOfWorkers) warnOnce(config, [unused])
          return
        }
        if (bundle[path] !== undefined) {
          this.error(`${path} is a file of the build already: choose another name by "envFileName"`)
        }
        const source = environmentModule(environmentDefaults(settings.environment))
        // The name puts it into Vite's own manifest, where chunks name it among their imports.
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

const unused = `[serve-dist] env: no script for browsers imports "${environmentImport}", so a server of this build takes nothing from its environment`

const externalMessage = `no browser finds "${environmentImport}", which rollupOptions.external leaves in; let it except this name`

function namedImportMessage(name: string): string {
  return `"${name}" is no export of the environment; say import env from "${environmentImport}", and env.${name}`
}

/** Whether it is a script that Vite took for an asset, by `new URL('./sw.js', import.meta.url)`. */
function isCopy({ fileName, source }: Rollup.OutputAsset): boolean {
  return /\.[cm]?[jt]sx?$/.test(fileName) && importText.test(Buffer.from(source).toString())
}

function copyMessage({ fileName, originalFileNames }: Rollup.OutputAsset): string {
  return `${fileName} (${originalFileNames.join(', ')}): Vite copies it as it is, and no browser finds "${environmentImport}"; make it an input of the build (build.rollupOptions.input), and register it with { type: 'module' }`
}

function isForClients({ consumer }: { readonly consumer: string }, { command }: ResolvedConfig): boolean {
  return command === 'build' && consumer === 'client'
}
