import type { EnvironmentSource } from '@serve-dist/manifest'

/** Creates a function that returns the value of a variable. It ignores inherited properties and other values. */
export function variableReader(source: EnvironmentSource): (name: string) => string | undefined {
  return (name) => {
    const text: unknown = Object.hasOwn(source, name) ? source[name] : undefined
    return typeof text === 'string' ? text : undefined
  }
}
