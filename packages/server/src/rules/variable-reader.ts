import type { EnvironmentSource } from '@serve-dist/manifest'

/** Returns the value of a variable, or `undefined` if it is not set. */
export type VariableReader = (name: string) => string | undefined

/** Creates a function that returns the value of a variable. It ignores inherited properties and other values. */
export function variableReader(source: EnvironmentSource): VariableReader {
  return (name) => {
    const text: unknown = Object.hasOwn(source, name) ? source[name] : undefined
    return typeof text === 'string' ? text : undefined
  }
}
