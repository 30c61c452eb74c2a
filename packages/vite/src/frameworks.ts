import type { BuildFacts } from '@serve-dist/precompress'
import type { ResolvedConfig } from 'vite'
import { pluginName } from './instances.ts'

/** A framework that writes into the folder when Vite has left it, so that only its integration can end its builds. */
interface Framework {
  readonly title: string
  /** The names of its Vite plugins. */
  readonly plugins: RegExp
  /** What to write where. */
  readonly cure: string
  /** Where it puts what it hashes, if not into Vite's `build.assetsDir`. */
  readonly assets?: string
  /** The files whose names it hashes by contract, whoever writes them. */
  readonly promises: (assets: string) => readonly string[]
}

/** By the export of `@serve-dist/vite` that is the framework's integration. */
const frameworks: Readonly<Record<string, Framework>> = {
  astro: {
    title: 'Astro',
    plugins: /^astro:/,
    cure: 'put serveDist() of "@serve-dist/vite/astro" last into "integrations" of astro.config',
    promises: (assets) => [`${assets}/**`],
  },
  nuxt: {
    title: 'Nuxt',
    plugins: /^nuxt:/,
    cure: 'put "@serve-dist/vite/nuxt" into "modules" of nuxt.config',
    promises: (assets) => [`${assets}/**`, `!${assets}/builds/**`],
  },
  sveltekit: {
    title: 'SvelteKit',
    plugins: /^vite-plugin-sveltekit-/,
    cure: 'wrap the adapter in serveDist() of "@serve-dist/vite/sveltekit"',
    assets: '_app',
    promises: (assets) => [`${assets}/immutable/**`],
  },
  vitepress: {
    title: 'VitePress',
    plugins: /^vitepress$/,
    cure: 'wrap the configuration in withServeDist() of "@serve-dist/vite/vitepress"',
    promises: (assets) => [`${assets}/**`],
  },
  'react-router': {
    title: 'React Router',
    plugins: /^react-router$/,
    cure: 'put serveDist() of "@serve-dist/vite/react-router" into "presets" of react-router.config',
    promises: () => [],
  },
}

/** The integration that a build needs: that of the first framework among its plugins. */
export function neededIntegration({ plugins, builder }: ResolvedConfig): string | undefined {
  return Object.keys(frameworks).find(
    (name) =>
      plugins.some((plugin) => frameworks[name]?.plugins.test(plugin.name)) &&
      // With environments, React Router has written everything when the last one is built.
      !(name === 'react-router' && builder !== undefined),
  )
}

/** What the record of a framework's build says of hashed names; `assetsDirectory` as Vite has it. */
export function namingOf(
  name: string | undefined,
  assetsDirectory: string,
): Pick<BuildFacts, 'assetsDirectory' | 'promises'> {
  const framework = name === undefined ? undefined : frameworks[name]
  const assets = framework?.assets ?? assetsDirectory
  return { assetsDirectory: assets, promises: framework?.promises(assets) ?? [] }
}

/** One line for a framework whose integration is missing. */
export function missingIntegration(name: string): string {
  const { title, cure } = frameworks[name] ?? { title: name, cure: '' }
  return `[${pluginName}] ${title} writes into the folder after Vite's build, so nothing is compressed here: ${cure}, and take serveDist() out of Vite's plugins; or run "serve-dist compress <folder>" at the end of the build`
}
