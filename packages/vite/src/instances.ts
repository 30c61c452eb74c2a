import type { Plugin, ResolvedConfig } from 'vite'
import type { FinishBuildOptions } from './compression/finish-build.ts'

/** The plugin's name, which is also the prefix of its messages. */
export const pluginName = 'serve-dist'

/** The `api` of each instance. Clones of the plugin, as Nuxt makes them, keep it. */
export interface InstanceMark {
  readonly serveDist: {
    readonly instance: symbol
    /** Name of the framework whose integration added this instance. */
    readonly framework: string | undefined
    /** Compresses a final folder, for an integration without options and plugin. */
    finish(build: Omit<FinishBuildOptions, 'options'>): Promise<void>
  }
}

/** Returns the mark of the active instance: the one of an integration, otherwise the first. */
export function findActiveInstance(
  plugins: readonly { readonly name: string; readonly api?: unknown }[],
): InstanceMark['serveDist'] | undefined {
  const marks = plugins.flatMap(({ api }) => (isMark(api) ? [api.serveDist] : []))
  return marks.find(({ framework }) => framework !== undefined) ?? marks[0]
}

/** The problem of a second instance. */
export const listedTwice =
  'serveDist() is in "plugins" more than once, and only one instance works. Remove the others.'

/** Packages of plugins that also compress, by the name of their plugin. */
const compressors: ReadonlyMap<string, string> = new Map([
  ['vite:compression', 'vite-plugin-compression'],
  ['vite-plugin-compression', 'vite-plugin-compression2'],
  ['gzip', 'rollup-plugin-gzip'],
])

/** Returns problems with other plugins: a second instance, plugins that write after this one, and compressors. */
export function findOrderProblems(
  plugins: readonly Plugin[],
  { instance }: InstanceMark['serveDist'],
): string[] {
  const isOwn = ({ api }: Plugin): boolean => isMark(api) && api.serveDist.instance === instance
  const isOther = (plugin: Plugin): boolean => isMark(plugin.api) && !isOwn(plugin)
  const problems = plugins
    .slice(plugins.findIndex(isOwn) + 1)
    .flatMap((plugin) =>
      lastHooks
        .filter((hook) => !isMark(plugin.api) && isPost(plugin[hook]))
        .map(
          (hook) =>
            `"${plugin.name}" runs after serveDist() in ${hook}, so files that it writes there are neither compressed nor in the manifest. Move serveDist() to the end of "plugins".`,
        ),
    )
  for (const name of new Set(plugins.flatMap((plugin) => compressors.get(plugin.name) ?? []))) {
    problems.push(
      `${name} compresses this build, too. Remove it from "plugins", because serveDist() replaces it.`,
    )
  }
  if (plugins.some(isOther)) {
    problems.unshift(listedTwice)
  }
  return problems.map((problem) => `[${pluginName}] ${problem}`)
}

const told = new Set<string>()

/** Warns once per project, because frameworks build a project several times with separate loggers. */
export function warnOnce({ root, logger }: ResolvedConfig, problems: readonly string[]): void {
  for (const problem of problems) {
    if (!told.has(root + problem)) logger.warn(problem)
    told.add(root + problem)
  }
}

/** Hooks in which a plugin can write after all others. */
const lastHooks = ['closeBundle', 'buildApp'] as const

function isPost(hook: Plugin[(typeof lastHooks)[number]]): boolean {
  return typeof hook === 'object' && hook.order === 'post'
}

function isMark(api: unknown): api is InstanceMark {
  return typeof api === 'object' && api !== null && 'serveDist' in api
}
