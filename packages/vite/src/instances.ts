import type { Plugin, ResolvedConfig } from 'vite'
import type { FinishBuildOptions } from './pass/finish-build.ts'

/** The plugin's name; its messages begin with it. */
export const pluginName = 'serve-dist'

/** What each instance carries as `api`: clones of plugin objects, as Nuxt makes them, carry it too. */
export interface InstanceMark {
  readonly serveDist: {
    readonly instance: symbol
    /** Of an instance that an integration put in. */
    readonly framework: string | undefined
    /** The pass over a folder that is final, for an integration that has neither options nor a plugin of its own. */
    finish(build: Omit<FinishBuildOptions, 'options'>): Promise<void>
  }
}

/** The mark of the instance that works: one of an integration before all others, else the first. */
export function findActiveInstance(
  plugins: readonly { readonly name: string; readonly api?: unknown }[],
): InstanceMark['serveDist'] | undefined {
  const marks = plugins.flatMap(({ api }) => (isMark(api) ? [api.serveDist] : []))
  return marks.find(({ framework }) => framework !== undefined) ?? marks[0]
}

/** What stands in the way of our pass being one, and the last thing that a build does. */
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
            `"${plugin.name}" comes later and finishes in ${hook} too: what it writes there is not compressed and not in the manifest; move serveDist() to the end of "plugins"`,
        ),
    )
  if (plugins.some(isOther)) {
    problems.unshift('stands in "plugins" more than once: only one of them works; remove the others')
  }
  return problems.map((problem) => `[${pluginName}] ${problem}`)
}

const told = new Set<string>()

/** Once for a project: frameworks build it several times, each time with a logger of its own. */
export function warnOnce({ root, logger }: ResolvedConfig, problems: readonly string[]): void {
  for (const problem of problems) {
    if (!told.has(root + problem)) logger.warn(problem)
    told.add(root + problem)
  }
}

/** The hooks in which a plugin can write when every other one is done. */
const lastHooks = ['closeBundle', 'buildApp'] as const

function isPost(hook: Plugin[(typeof lastHooks)[number]]): boolean {
  return typeof hook === 'object' && hook.order === 'post'
}

function isMark(api: unknown): api is InstanceMark {
  return typeof api === 'object' && api !== null && 'serveDist' in api
}
