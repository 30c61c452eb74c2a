/** Options with their defaults; `undefined` means none was given. */
export function withDefaults<Options extends object>(
  defaults: Options,
  given: { readonly [Name in keyof Options]?: Options[Name] | undefined },
): Options {
  const entries: [string, unknown][] = Object.entries(given)
  return { ...defaults, ...Object.fromEntries(entries.filter(([, value]) => value !== undefined)) }
}
