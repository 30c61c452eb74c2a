import { resolve } from 'node:path'
import { servedBase } from '@serve-dist/manifest'
import type { Environment, Plugin, ResolvedConfig } from 'vite'
import { clientPlugin } from './client/client-plugin.ts'
import {
  beginBuild,
  closeEnvironment,
  endOutput,
  markBuildFailed,
  finishEnvironments,
} from './build-steps.ts'
import { environmentPlugins } from './environment/environment-plugins.ts'
import { loadVariables } from './environment/load-variables.ts'
import * as frameworks from './integrations/frameworks.ts'
import {
  type InstanceMark,
  findOrderProblems,
  pluginName,
  warnOnce,
  findActiveInstance,
} from './instances.ts'
import { checkProjectAtExit } from './compression/check-at-exit.ts'
import { finishBuild } from './compression/finish-build.ts'
import { wereFoldersEmptied, isMarkedFolder } from './compression/mark-folders.ts'
import { proxyPlugin } from './proxy-plugin.ts'
import { buildStateOf } from './record/build-state.ts'
import { type CollectedWorkers, collectWorkers } from './record/collect-workers.ts'
import { assetsDirectory, folderOf } from './record/output-folders.ts'
import type { Recording } from './record/record-build.ts'
import { describeOutput, outputName } from './record/written-output.ts'
import {
  resolveServeDistOptions,
  type ServeDistOptions,
  type ServeDistSettings,
} from './serve-dist-options.ts'

/**
 * Compresses the output of `vite build` and writes a manifest for the server of serve-dist. Serves `vite preview` with
 * that server. Put it last in `plugins`.
 *
 * A file is immutable only if the bundler put a content hash into its name.
 */
export function serveDist(options: ServeDistOptions = {}): Plugin[] {
  return [...recordingPlugins(options), appPlugin]
}

/** Marks the environments that `buildApp` builds before this plugin's last hook. */
const appPlugin: Plugin = {
  name: `${pluginName}:app`,
  enforce: 'pre',
  apply: 'build',
  buildApp: {
    order: 'pre',
    async handler({ config, environments }) {
      if (config.builder === undefined) return
      for (const environment of Object.values(environments)) buildStateOf(environment).isPartOfApp = true
    },
  },
}

/**
 * Creates the recording plugin and the plugins for virtual modules.
 *
 * @param framework - name of the integration that adds the plugins. Then they only record facts, and `finishBuild`
 * compresses.
 * @param base - the base, if the integration knows it and Vite does not.
 */
export function recordingPlugins(options: ServeDistOptions, framework?: string, base?: string): Plugin[] {
  const settings = resolveServeDistOptions(options)
  const integration = { framework, base }
  return [
    clientPlugin(integration),
    ...environmentPlugins(settings.environment),
    proxyPlugin(settings.precompress.serving ?? {}),
    recordingPlugin(options, settings, integration),
  ]
}

function recordingPlugin(
  options: ServeDistOptions,
  settings: ServeDistSettings,
  integration: frameworks.Integration,
): Plugin {
  const { framework } = integration
  const workers: CollectedWorkers = { stems: new Map(), scripts: new Set(), inline: new Set() }
  const instance = Symbol(pluginName)
  const mark: InstanceMark['serveDist'] = {
    instance,
    framework,
    finish: (build) => finishBuild({ ...build, options }),
  }
  const isWorkingIn = ({ plugins }: ResolvedConfig) => findActiveInstance(plugins)?.instance === instance
  const isWorking = (environment: Environment) => isWorkingIn(environment.getTopLevelConfig())
  /** Whether this plugin compresses, because no integration does and none is missing. */
  const runsCompression = (config: ResolvedConfig, meta: frameworks.ViteMeta) =>
    settings.pass && framework === undefined && frameworks.findLateFramework(config, meta) === undefined
  const recordingOf = (environment: Environment): Recording => {
    const config = environment.getTopLevelConfig()
    const assets = assetsDirectory(environment.config.build.assetsDir)
    return { settings, facts: frameworks.frameworkFacts(config, integration, assets) }
  }

  return {
    name: pluginName,
    api: { serveDist: mark } satisfies InstanceMark,
    enforce: 'post',
    apply: (_config, { command, isPreview }) => command === 'build' || isPreview === true,

    config: () => ({ worker: { plugins: () => [collectWorkers(workers)] } }),

    configResolved(config) {
      frameworks.refuseOldVite(config)
      // Refuse a base that cannot be served now, before the build runs.
      servedBase(config.base)
      if (config.command !== 'build' || !settings.pass || framework !== undefined) return
      // Vite 6 calls this without a context.
      const late = isWorkingIn(config) ? frameworks.findLateFramework(config, this?.meta) : undefined
      const found = late
        ? frameworks.describeMissingIntegration(late, config)
        : findOrderProblems(config.plugins, mark)
      warnOnce(config, found)
      if (config.build.watch) config.logger.info(watchNotice)
    },

    // Some versions of Vite empty the folders of a watched build before they know whether its modules are valid.
    async buildStart() {
      const { environment, meta } = this
      if (meta.watchMode && isWorking(environment) && wereFoldersEmptied(environment))
        await beginBuild(environment)
    },

    // `post`: record the final names of the bundler.
    outputOptions: {
      order: 'post',
      handler(outputOptions) {
        const asked = buildStateOf(this.environment).askedNames(outputOptions)
        return { ...outputOptions, assetFileNames: asked.record(outputOptions.assetFileNames) }
      },
    },

    // `post`: if another plugin fails, the bundler writes nothing, and the earlier build stays.
    buildEnd: {
      order: 'post',
      sequential: true,
      async handler(error) {
        if (!isWorking(this.environment)) return
        await (error === undefined ? beginBuild(this.environment) : markBuildFailed(this, error))
      },
    },

    // Runs after Vite's own `pre` plugin, which empties the folders.
    renderStart: {
      order: 'pre',
      sequential: true,
      async handler(output) {
        if (!isWorking(this.environment)) return
        const place = { name: outputName(output), folder: folderOf(output) }
        await beginBuild(this.environment, { ...recordingOf(this.environment), ...place })
      },
    },

    async renderError(error) {
      if (isWorking(this.environment)) await markBuildFailed(this, error)
    },

    // `post`: if another plugin fails, this output does not count as written.
    writeBundle: {
      order: 'post',
      sequential: true,
      handler(output, bundle) {
        if (!isWorking(this.environment)) return
        const asked = buildStateOf(this.environment).askedNames(output)
        const environment = settings.environment?.environment
        const written = describeOutput(output, Object.values(bundle), { asked, workers, environment })
        endOutput(this.environment, outputName(output), written)
      },
    },

    closeBundle: {
      order: 'post',
      sequential: true,
      async handler(error) {
        const { environment, meta } = this
        if (!isWorking(environment)) return
        const state = buildStateOf(environment)
        if (error !== undefined || state.phase === 'building') await markBuildFailed(this, error)
        if (error !== undefined || !['written', 'finished'].includes(state.phase)) return

        const config = environment.getTopLevelConfig()
        await closeEnvironment(this, {
          ...recordingOf(environment),
          runsCompression: runsCompression(config, meta),
        })
        if (!meta.watchMode) checkProjectAtExit(config.root)
      },
    },

    // Needs Vite 7 or later.
    buildApp: {
      order: 'post',
      async handler(builder) {
        const environments = Object.values(builder.environments)
        if (builder.config.builder === undefined || !isWorkingIn(builder.config)) return
        // If no plugin builds the environments, Vite does so after all hooks. Build them here, so that this is the end.
        if (environments.every(({ isBuilt }) => !isBuilt)) {
          for (const environment of environments) await builder.build(environment)
        }
        await finishEnvironments(environments, settings)
      },
    },

    configurePreviewServer: {
      order: 'post',
      async handler(server) {
        if (!isWorkingIn(server.config)) return undefined
        // SvelteKit and Vike answer requests themselves, and set the folder only in builds.
        const { appType, environments, root } = server.config
        const folder = resolve(root, environments['client']?.build.outDir ?? '')
        if (appType === 'custom' && !isMarkedFolder(folder)) return undefined
        const { default: previewDist } = await import('@serve-dist/server/vite')
        const environment = await loadVariables(server.config)
        return await previewDist({ environment }).configurePreviewServer.handler.call(this, server)
      },
    },
  }
}

const watchNotice =
  '[serve-dist] a watched build gets a manifest without variants. Serve it with "serve-dist --watch".'
