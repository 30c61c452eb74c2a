import { join, relative } from 'node:path'
import { compressCommand, OperatorError, servedBase } from '@serve-dist/manifest'
import type { BuildFacts } from '@serve-dist/precompress'
import type { ResolvedConfig } from 'vite'
import { pluginName } from '../instances.ts'
import { isIntegrationRegistered } from './registered-integrations.ts'

/** A framework that writes into the folder after Vite, so only its integration can finish its builds. */
interface Framework {
  readonly title: string
  /** Matches the names of its Vite plugins. */
  readonly plugins: RegExp
  /** The fix in the framework's configuration. Absent if only the command can finish a build. */
  readonly cure?: string
  /** Returns the folder that is deployed, as far as the first build's configuration shows. */
  readonly folder: (config: ResolvedConfig) => string
  /** A hint for configurations that use another folder. */
  readonly otherFolder?: string
  /** Returns the framework's own base path. Only for frameworks that give Vite a relative one. */
  readonly base?: (config: ResolvedConfig) => string | undefined
  /** The folder of hashed files, if it is not Vite's `build.assetsDir`. */
  readonly assets?: string
  /** Returns globs of files whose names the framework hashes by contract. */
  readonly promises: (assets: string) => readonly string[]
}

const instead = "and remove serveDist() from Vite's plugins"

/** Frameworks by name. The name is also the export of `@serve-dist/vite` with the integration, if there is one. */
const frameworks: Readonly<Record<string, Framework>> = {
  astro: {
    title: 'Astro',
    plugins: /^astro:/,
    cure: `put serveDist() of "@serve-dist/vite/astro" last into "integrations" of astro.config, ${instead}`,
    folder: () => 'dist',
    otherFolder: 'with an adapter: dist/client',
    promises: (assets) => [`${assets}/**`],
  },
  nuxt: {
    title: 'Nuxt',
    plugins: /^nuxt:/,
    cure: `put "@serve-dist/vite/nuxt" into "modules" of nuxt.config, ${instead}`,
    folder: () => '.output/public',
    promises: (assets) => [`${assets}/**`, `!${assets}/builds/**`],
  },
  sveltekit: {
    title: 'SvelteKit',
    plugins: /^vite-plugin-sveltekit-/,
    cure: `wrap the adapter in serveDist() of "@serve-dist/vite/sveltekit", ${instead}`,
    folder: () => 'build',
    otherFolder: 'with adapter-node: build/client',
    // The value is a quoted text.
    base: ({ define }) => define?.['__SVELTEKIT_PATHS_BASE__']?.slice(1, -1),
    assets: '_app',
    promises: (assets) => [`${assets}/immutable/**`],
  },
  vitepress: {
    title: 'VitePress',
    plugins: /^vitepress$/,
    cure: `wrap the configuration in withServeDist() of "@serve-dist/vite/vitepress", ${instead}`,
    folder: (config) => {
      const { outDir }: { outDir?: unknown } = Object(Reflect.get(config, 'vitepress'))
      return typeof outDir === 'string' ? outDir : config.build.outDir
    },
    // The folder also contains files of `public/assets`.
    promises: (assets) => [`${assets}/**/*.????????.*`],
  },
  'react-router': {
    title: 'React Router',
    plugins: /^react-router$/,
    cure: 'also put serveDist() of "@serve-dist/vite/react-router" into "presets" of react-router.config',
    folder: (config) => {
      const { buildDirectory }: { buildDirectory?: unknown } = routerConfig(config)
      return join(typeof buildDirectory === 'string' ? buildDirectory : 'build', 'client')
    },
    // The route manifest, whose name contains a content hash.
    promises: (assets) => [`${assets}/manifest-????????.js`],
  },
  // Storybook copies `staticDirs` during the build.
  storybook: {
    title: 'Storybook',
    plugins: /^storybook:/,
    folder: ({ build }) => build.outDir,
    promises: () => [],
  },
}

/** The `meta` of the plugin's context. Vite 7 and later set its version. */
export interface ViteMeta {
  readonly viteVersion?: string
}

/** Returns the framework that writes after the plugin's last hook, so that the plugin must not compress. */
export function findLateFramework(config: ResolvedConfig, meta: ViteMeta | undefined): string | undefined {
  const name = frameworkOf(config)
  // With environments, React Router has written everything when the last one is built. Vite 6 has no hook for that.
  const hasEnvironments = name === 'react-router' && config.builder?.sharedConfigBuild === true
  const hasLastHook = hasEnvironments && meta?.viteVersion !== undefined
  return hasLastHook ? undefined : name
}

/** Returns the facts about hashed names for the record. `assetsDirectory` is Vite's. */
export function hashedNameFacts(
  name: string | undefined,
  assetsDirectory: string,
): Pick<BuildFacts, 'assetsDirectory' | 'promises'> {
  const framework = name === undefined ? undefined : frameworks[name]
  const assets = framework?.assets ?? assetsDirectory
  return { assetsDirectory: assets, promises: framework?.promises(assets) ?? [] }
}

/** Facts that an integration provides. Undefined values mean that the user added the plugin without an integration. */
export interface Integration {
  readonly framework: string | undefined
  readonly base: string | undefined
}

/** Returns the facts of a record that depend on the framework. Facts of the integration have precedence. */
export function frameworkFacts(
  config: ResolvedConfig,
  integration: Integration,
  assetsDirectory: string,
): Pick<BuildFacts, 'base' | 'appType' | 'assetsDirectory' | 'promises'> {
  const name = integration.framework ?? frameworkOf(config)
  return {
    base: servedBase(frameworkBase(config, integration) ?? config.base),
    appType: appTypeOf(config),
    ...hashedNameFacts(name, assetsDirectory),
  }
}

/** Returns the base of a framework's build if it differs from Vite's. */
export function frameworkBase(config: ResolvedConfig, { framework, base }: Integration): string | undefined {
  const name = framework ?? frameworkOf(config)
  return base ?? (name === undefined ? undefined : frameworks[name]?.base?.(config))
}

/** Returns Vite's type, or `spa` for React Router without prerendering. React Router sets `custom` for every build. */
function appTypeOf(config: ResolvedConfig): ResolvedConfig['appType'] {
  const { ssr, prerender }: { ssr?: unknown; prerender?: unknown } = routerConfig(config)
  return ssr === false && !prerender ? 'spa' : config.appType
}

function routerConfig(config: ResolvedConfig): object {
  return Object(Object(Reflect.get(config, '__reactRouterPluginContext')).reactRouterConfig)
}

/** Returns the first framework with a plugin in the list. */
function frameworkOf({ plugins }: ResolvedConfig): string | undefined {
  return Object.keys(frameworks).find((name) =>
    plugins.some((plugin) => frameworks[name]?.plugins.test(plugin.name)),
  )
}

/** Returns a warning if the framework's integration is missing. */
export function describeMissingIntegration(name: string, config: ResolvedConfig): string[] {
  const framework = frameworks[name]
  // SvelteKit's workers only read the configuration.
  const isRead = process.env['SVELTEKIT_FORK'] !== undefined
  if (framework === undefined || isRead || isIntegrationRegistered(name)) return []
  const { title, cure, folder, otherFolder } = framework
  const shown = compressCommand(relative(process.cwd(), folder(config)) || '.', '@serve-dist/server')
  const other = otherFolder === undefined ? '' : ` (${otherFolder})`
  const command = `end the build with: ${shown}${other}`
  const mended = cure === undefined ? command : `${cure}, or ${command}`
  return [
    `[${pluginName}] ${title} writes into the folder after Vite's build, so serve-dist compresses nothing here. To fix this, ${mended}`,
  ]
}

/**
 * Rejects old versions without importing `vite`, because a project may contain a newer version than the framework uses.
 */
export function refuseOldVite(config: ResolvedConfig): void {
  // `environments` exists since Vite 6, although the type always has it.
  if (Reflect.has(config, 'environments')) return
  const cure =
    frameworkOf(config) === 'vitepress'
      ? `VitePress 1 builds with Vite 5. Remove serveDist() from "plugins", and wrap the configuration in the default export of "@serve-dist/vite/vitepress".`
      : `an older version runs this build. Remove serveDist() from "plugins", and run "${compressCommand(config.build.outDir, '@serve-dist/server')}" after the build.`
  throw new OperatorError('SD_VITE_UNSUPPORTED', `serveDist() needs Vite 6 or later: ${cure}`)
}
