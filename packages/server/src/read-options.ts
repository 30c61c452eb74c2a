import { OperatorError } from '@serve-dist/manifest'
import { mismatch } from '@serve-dist/foundation/values/mismatch'

/** What is wrong with the value of an option, one text each, to be written behind the option's name. */
export type OptionCheck = (value: unknown) => readonly string[]

export type OptionChecks<Options> = { readonly [Name in keyof Options]-?: OptionCheck }

/**
 * The defaults with the given options in their places; an option that is `undefined` counts as not given. Callers
 * without types may give anything.
 *
 * @param checks - of every option that exists; values without a default are checked only when they are given.
 * @throws OperatorError that lists every unknown option and every wrong value.
 */
export function readOptions<Options extends object>(
  given: Readonly<Partial<Record<keyof Options, unknown>>>,
  defaults: Options,
  checks: OptionChecks<Options>,
): Options {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new OperatorError('SD_OPTION_INVALID', `options: ${mismatch('an object', given)}`)
  }
  const known = new Map(Object.entries<OptionCheck>(checks))
  const defined = Object.entries(given).filter(([, value]) => value !== undefined)
  const options = { ...defaults, ...Object.fromEntries(defined) }
  const problems = Object.entries(options).flatMap(([name, value]) => {
    const check = known.get(name)
    if (check === undefined) return `${name}: unknown option; known options: ${[...known.keys()].join(', ')}`
    return value === undefined ? [] : check(value).map((problem) => name + problem)
  })
  if (problems.length > 0) throw new OperatorError('SD_OPTION_INVALID', problems)
  return options
}

/** A value that only some hold for. */
export function expecting(expected: string, holds: (value: unknown) => boolean): OptionCheck {
  return (value) => (holds(value) ? [] : [`: ${mismatch(expected, value)}`])
}

export function oneOf(...choices: readonly string[]): OptionCheck {
  const names = choices.map((choice) => JSON.stringify(choice))
  return expecting(`${names.slice(0, -1).join(', ')} or ${names.at(-1)}`, (value) =>
    choices.some((choice) => choice === value),
  )
}

export function numberOf(things: string): OptionCheck {
  return expecting(`a number of ${things}, 0 or more`, (value) => typeof value === 'number' && value >= 0)
}

export function wholeNumber(expected: string, most: number): OptionCheck {
  return expecting(
    expected,
    (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= most,
  )
}

export const portNumber: OptionCheck = wholeNumber('a whole number from 0 to 65535', 65_535)
export const aFunction: OptionCheck = expecting('a function', (value) => typeof value === 'function')
export const anything: OptionCheck = () => []

/** What a parser can read; its message says what was expected. */
export function readableBy(parse: (value: never) => unknown): OptionCheck {
  return (value) => {
    try {
      Reflect.apply(parse, undefined, [value])
      return []
    } catch (error) {
      return [`: ${error instanceof Error ? error.message : String(error)}`]
    }
  }
}

/** Options within an option. */
export function optionsFor(resolve: (value: never) => unknown): OptionCheck {
  return (value) => {
    if (typeof value !== 'object' || value === null) return [`: ${mismatch('an object', value)}`]
    try {
      Reflect.apply(resolve, undefined, [value])
      return []
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error
      return error.problems.map((problem) => `.${problem}`)
    }
  }
}
