import type { Plugin } from 'vite'

/** What stands in the way of our pass being one, and the last thing that a build does. */
export function pluginOrderProblems(plugin: Plugin, plugins: readonly Plugin[]): string[] {
  const first = plugins.find(({ name }) => name === plugin.name)
  if (first !== plugin) {
    return [
      `[${plugin.name}] stands in "plugins" more than once: only the first one works; remove the others`,
    ]
  }
  return plugins
    .slice(plugins.indexOf(plugin) + 1)
    .filter(({ name }) => name !== plugin.name)
    .flatMap((later) => lastHooks.filter((hook) => isPost(later[hook])).map((hook) => ({ later, hook })))
    .map(
      ({ later, hook }) =>
        `[${plugin.name}] "${later.name}" comes later and finishes in ${hook} too: what it writes there is not compressed and not in the manifest; move serveDist() to the end of "plugins"`,
    )
}

/** The hooks in which a plugin can write when every other one is done. */
const lastHooks = ['closeBundle', 'buildApp'] as const

function isPost(hook: Plugin[(typeof lastHooks)[number]]): boolean {
  return typeof hook === 'object' && hook.order === 'post'
}
