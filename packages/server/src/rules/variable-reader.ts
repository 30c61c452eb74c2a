import type { EnvironmentSource, EnvironmentText } from '@serve-dist/manifest'

/** Returns the value of a variable, or `undefined` if it is not set. */
export type VariableReader = (name: string) => string | undefined

/** Creates a function that returns the value of a variable. It ignores inherited properties and other values. */
export function variableReader(source: EnvironmentSource): VariableReader {
  return (name) => {
    const text: unknown = Object.hasOwn(source, name) ? source[name] : undefined
    return typeof text === 'string' ? text : undefined
  }
}

/** Returns the value of a variable in a rule, or `undefined` after it has noted a problem. */
export type VariableLookup = (
  variable: EnvironmentText,
  use: string,
  problemOf: (text: string) => string | undefined,
) => string | undefined

/**
 * Creates a function that returns the values of variables in rules.
 *
 * @param problems - receives a line for each unset variable or invalid value. It never contains a value.
 */
export function lookUpVariables(read: VariableReader, problems: string[]): VariableLookup {
  return ({ env }, use, problemOf) => {
    const text = read(env)
    const problem = text === undefined || text === '' ? 'it is not set' : problemOf(text)
    if (problem !== undefined) problems.push(`${env}: ${use}: ${problem}`)
    return problem === undefined ? text : undefined
  }
}

/** The problem of a value that a field cannot have. */
export const unfitForField = 'it has characters that a field cannot contain'
