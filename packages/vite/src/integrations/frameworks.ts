import { join, relative } from 'node:path'
import { compressCommand, OperatorError, servedBase } from '@serve-dist/manifest'
import type { BuildFacts } from '@serve-dist/precompress'
import type { ResolvedConfig } from 'vite'
import { pluginName } from '../instances.ts'
import { isIntegrationRegistered } from './registered-integrations.ts'

/** A framework that writes into the folder when Vite has left it, so that only its integration can end its builds. */
interface Framework {
  readonly title: string
  /** The names of its Vite plugins. */
  readonly plugins: RegExp
  /** What to write where; none where only the command can end a build. */
  readonly cure?: string
  /** The folder that is deployed, as far as the configuration of its first build tells. */
  readonly folder: (config: ResolvedConfig) => string
  /** When it is another one. */
  readonly otherFolder?: string
  /** Its own base path, where Vite is given a relative one. */
  readonly base?: (config: ResolvedConfig) => string | undefined
  /** Where it puts what it hashes, if not into Vite's `build.assetsDir`. */
  readonly assets?: string
  /** The files whose names it hashes by contract, whoever writes them. */
  readonly promises: (assets: string) => readonly string[]
}

const instead = "and take serveDist() out of Vite's plugins"

/** By the export of `@serve-dist/vite` that is the framework's integration, where there is one. */
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
    // A text in quotes.
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
    // What `public/assets` has lies among it.
    promises: (assets) => [`${assets}/**/*.????????.*`],
  },
  'react-router': {
    title: 'React Router',
    plugins: /^react-router$/,
    cure: 'put serveDist() of "@serve-dist/vite/react-router" into "presets" of react-router.config too',
    folder: (config) => {
      const { buildDirectory }: { buildDirectory?: unknown } = routerConfig(config)
      return join(typeof buildDirectory === 'string' ? buildDirectory : 'build', 'client')
    },
    // Its route manifest, whose name has the hash of what lies in it.
    promises: (assets) => [`${assets}/manifest-????????.js`],
  },
  // It copies `staticDirs` meanwhile.
  storybook: {
    title: 'Storybook',
    plugins: /^storybook:/,
    folder: ({ build }) => build.outDir,
    promises: () => [],
  },
}

/** Of the plugin's context: Vite says its version from 7 on. */
export interface ViteMeta {
  readonly viteVersion?: string
}

/** The framework whose last hook the plugin does not see, so that it makes no pass. */
export function findLateFramework(config: ResolvedConfig, meta: ViteMeta | undefined): string | undefined {
  const name = frameworkOf(config)
  // With environments, React Router has written everything when the last one is built. Vite 6 has no hook for that.
  const hasEnvironments = name === 'react-router' && config.builder?.sharedConfigBuild === true
  const hasLastHook = hasEnvironments && meta?.viteVersion !== undefined
  return hasLastHook ? undefined : name
}

/** What the record of a framework's build says of hashed names; `assetsDirectory` as Vite has it. */
export function hashedNameFacts(
  name: string | undefined,
  assetsDirectory: string,
): Pick<BuildFacts, 'assetsDirectory' | 'promises'> {
  const framework = name === undefined ? undefined : frameworks[name]
  const assets = framework?.assets ?? assetsDirectory
  return { assetsDirectory: assets, promises: framework?.promises(assets) ?? [] }
}

/** What an integration says of itself; neither, where the plugin stands among Vite's by itself. */
export interface Integration {
  readonly framework: string | undefined
  readonly base: string | undefined
}

/** What the record of a build says in a framework's own way; what its integration knows counts first. */
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

/** The base under which a framework serves a build, where it is another one than Vite's. */
export function frameworkBase(config: ResolvedConfig, { framework, base }: Integration): string | undefined {
  const name = framework ?? frameworkOf(config)
  return base ?? (name === undefined ? undefined : frameworks[name]?.base?.(config))
}

/** Vite's, but for a React Router that writes a shell for all of its pages: it calls every build `custom`. */
function appTypeOf(config: ResolvedConfig): ResolvedConfig['appType'] {
  const { ssr, prerender }: { ssr?: unknown; prerender?: unknown } = routerConfig(config)
  return ssr === false && !prerender ? 'spa' : config.appType
}

function routerConfig(config: ResolvedConfig): object {
  return Object(Object(Reflect.get(config, '__reactRouterPluginContext')).reactRouterConfig)
}

/** The first framework whose plugins stand among these. */
function frameworkOf({ plugins }: ResolvedConfig): string | undefined {
  return Object.keys(frameworks).find((name) =>
    plugins.some((plugin) => frameworks[name]?.plugins.test(plugin.name)),
  )
}

/** One line for a framework whose integration is missing, if it is. */
export function describeMissingIntegration(name: string, config: ResolvedConfig): string[] {
  const framework = frameworks[name]
  // The workers of SvelteKit read the configuration again, and build nothing.
  const isRead = process.env['SVELTEKIT_FORK'] !== undefined
  if (framework === undefined || isRead || isIntegrationRegistered(name)) return []
  const { title, cure, folder, otherFolder } = framework
  const shown = compressCommand(relative(process.cwd(), folder(config)) || '.', '@serve-dist/server')
  const other = otherFolder === undefined ? '' : ` (${otherFolder})`
  const command = `end the build with: ${shown}${other}`
  const mended = cure === undefined ? command : `${cure}; or ${command}`
  return [
    `[${pluginName}] ${title} writes into the folder after Vite's build, so nothing is compressed here: ${mended}`,
  ]
}

/** Never by importing `vite`: a project may have a new one at its top, and the old one below the framework that builds. */
export function refuseOldVite(config: ResolvedConfig): void {
  // The types are those of a later Vite.
  if (Reflect.has(config, 'environments')) return
  const cure =
    frameworkOf(config) === 'vitepress'
      ? `VitePress 1 builds with Vite 5: take serveDist() out of "plugins", and wrap the configuration in the default export of "@serve-dist/vite/vitepress"`
      : `an older one runs this build: take it out of "plugins", and run "${compressCommand(config.build.outDir, '@serve-dist/server')}" after the build`
  throw new OperatorError('SD_VITE_UNSUPPORTED', `serveDist() works with Vite 6 and later, and ${cure}`)
}
