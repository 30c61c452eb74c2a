import { servedBase } from '@serve-dist/manifest'
import type { Environment, Plugin, ResolvedConfig } from 'vite'
import { compressFolders } from './pass/compress-folders.ts'
import { finishApp, finishedPasses } from './pass/finish-app.ts'
import { createFolderMarks, emptiesAtStart, retireManifests } from './pass/folder-marks.ts'
import { pluginOrderProblems } from './plugin-order-problems.ts'
import { collectWorkerNames } from './record/collect-worker-names.ts'
import { createEnvironmentOutput, type EnvironmentOutput, folderOf } from './record/environment-output.ts'
import { outermostFolders } from './record/output-folders.ts'
import { resolveServeDistOptions, type ServeDistOptions } from './serve-dist-options.ts'

/** The plugin's name; its messages begin with it. */
const pluginName = 'serve-dist'

/**
 * Compresses what `vite build` wrote and describes it in a manifest that the server of serve-dist reads;
 * answers `vite preview` with that server. Put it last in `plugins`.
 *
 * Only client environments are touched, and only builds that succeeded. A file is called immutable only
 * where the bundler itself put a content hash into its name.
 */
export function serveDist(options: ServeDistOptions = {}): Plugin {
  const settings = resolveServeDistOptions(options)
  const workerNames = new Set<string>()
  const outputs = new WeakMap<Environment, EnvironmentOutput>()
  const lastPasses = new WeakMap<Environment, AbortController>()
  const marks = createFolderMarks()
  let pass: Promise<void> = Promise.resolve()

  const outputOf = (environment: Environment): EnvironmentOutput => {
    const isWatched = Boolean(environment.config.build.watch)
    const output = outputs.get(environment) ?? createEnvironmentOutput({ workerNames, isWatched })
    outputs.set(environment, output)
    return output
  }
  const isFirst = (config: ResolvedConfig) =>
    config.plugins.find(({ name }) => name === pluginName) === plugin

  const plugin: Plugin = {
    name: pluginName,
    enforce: 'post',
    apply: (_config, { command, isPreview }) => command === 'build' || isPreview === true,
    applyToEnvironment: ({ config }) => config.consumer === 'client' && !config.build.ssr,

    config: () => ({ worker: { plugins: () => [collectWorkerNames(workerNames)] } }),

    configResolved(config) {
      // Refuse a base that cannot be served now, before the build runs.
      servedBase(config.base)
      if (config.command !== 'build') return
      for (const problem of pluginOrderProblems(plugin, config.plugins)) config.logger.warnOnce(problem)
    },

    async buildStart() {
      const { environment, meta } = this
      const output = outputOf(environment)
      output.beginBuild()
      if (!isFirst(environment.getTopLevelConfig()) || !emptiesAtStart(environment, meta)) return
      // Vite has emptied the folder: a pass of the earlier build would describe what is left.
      output.forget()
      lastPasses.get(environment)?.abort()
      await marks.mark(environment, pass)
    },

    // `post`: record the names that the bundler will really use.
    outputOptions: {
      order: 'post',
      handler(outputOptions) {
        const asked = outputOf(this.environment).askedNames(outputOptions)
        return { ...outputOptions, assetFileNames: asked.record(outputOptions.assetFileNames) }
      },
    },

    // A rebuild may read while the pass of the earlier build runs, but not write. `post`: when another plugin fails,
    // the bundler writes nothing, and the earlier build stays.
    buildEnd: {
      order: 'post',
      sequential: true,
      async handler(error) {
        const { environment, meta } = this
        outputOf(environment).endBuild(error)
        if (error !== undefined) {
          if (emptiesAtStart(environment, meta)) await marks.tellUnserved(this, pass)
          return
        }
        // Not sooner: if the rebuild fails, the earlier build stays, and its pass must finish.
        if (meta.watchMode) lastPasses.get(environment)?.abort()
        await pass
        if (!isFirst(environment.getTopLevelConfig())) return
        await retireManifests(environment)
        marks.expectChanges(environment)
      },
    },

    // Runs after Vite's own `pre` plugin, which empties the folders.
    renderStart: {
      order: 'pre',
      sequential: true,
      async handler(outputOptions) {
        const { environment } = this
        outputOf(environment).beginOutput(outputOptions)
        if (isFirst(environment.getTopLevelConfig()))
          await marks.mark(environment, pass, folderOf(outputOptions))
      },
    },

    async renderError() {
      // The bundler does not close a watched build that fails here.
      if (this.meta.watchMode) await marks.tellUnserved(this, pass)
      // `closeBundle` does not learn of this failure: forget the outputs that were written, they are not a whole build.
      else outputOf(this.environment).forget()
    },

    // `post`: when another plugin fails, this output does not count as written.
    writeBundle: {
      order: 'post',
      sequential: true,
      handler(outputOptions, bundle) {
        outputOf(this.environment).endOutput(outputOptions, bundle)
      },
    },

    closeBundle: {
      order: 'post',
      sequential: true,
      async handler(failure) {
        const output = outputOf(this.environment)
        // A watched build failed. The earlier build has its own `closeBundle`.
        if (this.meta.watchMode && failure !== undefined) {
          // Our `buildEnd` did not run if another plugin's failed.
          output.endBuild(failure)
          if (emptiesAtStart(this.environment, this.meta)) await marks.tellUnserved(this, pass)
          return
        }
        if (!(await output.isLast())) return
        // With overlapping watch builds, wait until both are closed: plugins may write in `closeBundle` of either.
        const isRepeated = output.areTaken()
        const folders = outermostFolders(output.takeFolders())
        if (!isFirst(this.environment.getTopLevelConfig())) return
        if (folders.length === 0) {
          // A watched build that closes late leaves the folder to the next one.
          if (!this.meta.watchMode) await marks.tellUnserved(this, pass)
          return
        }
        marks.forget(this.environment)
        // If builds close in the other order, this pass does the other's work too.
        if (this.meta.watchMode) lastPasses.get(this.environment)?.abort()
        const aborting = new AbortController()
        lastPasses.set(this.environment, aborting)
        const passOptions = {
          ...settings,
          isHashed: output.isHashed,
          graph: output.graph,
          tellFailure: output.tellFailure,
          signal: aborting.signal,
          told: new Set<string>(),
        }
        const next = compressFolders(pass, this, folders, { ...passOptions, isRepeated })
        // Later work waits for the end of this pass; the failure itself is reported below.
        pass = next.catch(() => {})
        await next
        if (!this.meta.watchMode) finishedPasses.set(this.environment, { folders, options: passOptions })
      },
    },

    // Since Vite 7: compress what later environments wrote into a folder, such as prerendered pages.
    buildApp: {
      order: 'post',
      async handler(builder) {
        if (isFirst(builder.config)) await finishApp(builder)
      },
    },

    configurePreviewServer: {
      order: 'post',
      async handler(server) {
        if (!isFirst(server.config)) return undefined
        const { default: previewDist } = await import('@serve-dist/server/vite')
        return await previewDist().configurePreviewServer.handler.call(this, server)
      },
    },
  }
  return plugin
}
