import { OperatorError } from '@serve-dist/manifest'

/**
 * The defaults, overridden by the given options; `undefined` counts as not given.
 *
 * @param more - names of options that have no default.
 * @throws OperatorError that names an unknown option.
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
      `${unknown}: unknown option; known options: ${names.join(', ')}`,
    )
  }
  const defined = Object.entries(given).filter(([, value]) => value !== undefined)
  return { ...defaults, ...Object.fromEntries(defined) }
}

/**
 * Puts the option's name before what a parser of its value says.
 *
 * @throws OperatorError when the parser throws.
 */
export function checkOption(name: string, parse: () => unknown): void {
  try {
    parse()
  } catch (cause) {
    throw new OperatorError(
      'SD_OPTION_INVALID',
      `${name}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    )
  }
}
