import { OperatorError } from '@serve-dist/manifest'
/**
 * The defaults with what was given in their places; `undefined` is as good as not given.
 *
 * @param more - names of options that have no default.
 * @throws OperatorError that names an option which there is not.
 */
export function withDefaults<Options extends object>(
  defaults: Options,
  given: Readonly<Partial<Record<keyof Options, unknown>>>,
  more: readonly string[] = [],
): Options {
  const names = [...Object.keys(defaults), ...more]
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    throw new OperatorError(
      'SD_OPTION_INVALID',
      `${unknown}: there is no such option; there are ${names.join(', ')}`,
    )
  }
  const defined = Object.entries(given).filter(([, value]) => value !== undefined)
  return { ...defaults, ...Object.fromEntries(defined) }
}
