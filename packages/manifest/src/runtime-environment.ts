import { isJson } from '@serve-dist/foundation/values/is-json'

/** The variables that a build reads from the environment of its server at the start. */
export interface RuntimeEnvironment {
  /** The path of the module with the values, relative to the build's folder. The file on disk contains the defaults. */
  readonly path: string
  /** The prefix of the names of environment variables, possibly `''`. */
  readonly prefix: string
  /** The variables, by their names in the application. */
  readonly variables: Readonly<Record<string, EnvironmentVariable>>
}

/** A variable of the environment. */
export interface EnvironmentVariable {
  readonly type: EnvironmentType
  /** Whether the server requires the variable to start. */
  readonly required?: true
  /** The value for a variable that is not set, if there is one. */
  readonly default?: unknown
}

/** The type to which the text of a variable is converted. */
export type EnvironmentType = (typeof environmentTypes)[number]

export const environmentTypes: readonly ['string', 'number', 'boolean', 'json'] = [
  'string',
  'number',
  'boolean',
  'json',
]

/** Texts by variable name, such as `process.env`. */
export type EnvironmentSource = Readonly<Record<string, string | undefined>>

/** Values by name, as the application gets them. */
export type EnvironmentValues = Readonly<Record<string, unknown>>

/** The values and the problems. A problem contains the name of a variable, but never its text. */
export interface ReadEnvironment {
  readonly values: EnvironmentValues
  readonly problems: readonly string[]
}

/** Reads only the listed variables. An empty text counts as not set, except for strings that are not required. */
export function readEnvironment(
  { prefix, variables }: Pick<RuntimeEnvironment, 'prefix' | 'variables'>,
  source: EnvironmentSource,
): ReadEnvironment {
  const problems: string[] = []
  const values: [string, unknown][] = []
  for (const [name, variable] of Object.entries(variables)) {
    const text = Object.hasOwn(source, prefix + name) ? source[prefix + name] : undefined
    const isSet = text !== undefined && (text !== '' || (variable.type === 'string' && !variable.required))
    if (isSet) {
      const read = readText(text, variable.type)
      if ('value' in read) values.push([name, read.value])
      else problems.push(`${prefix + name}: expected ${read.expected}`)
    } else if (variable.required) {
      const state = text === '' ? 'empty' : 'not set'
      problems.push(`${prefix + name}: the build requires this environment variable, and it is ${state}`)
    } else if (variable.default !== undefined) values.push([name, variable.default])
  }
  // `Object.fromEntries` also accepts the name `__proto__`.
  return { values: Object.fromEntries(values), problems }
}

/** Returns the default values. */
export function environmentDefaults({ variables }: Pick<RuntimeEnvironment, 'variables'>): EnvironmentValues {
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, variable]) =>
      variable.default === undefined ? [] : [[name, variable.default]],
    ),
  )
}

/** Returns the text of the module. The values are embedded as data, so that they cannot become code. */
export function environmentModule(values: EnvironmentValues): string {
  const data = JSON.stringify(JSON.stringify(values)).replaceAll(
    /[<\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `export default Object.freeze(JSON.parse(${data}))\n`
}

/** Returns whether a name suggests a secret. The module is public. */
export function isSecretName(name: string): boolean {
  return /(?:^|_)(?:secret|key|token|password)$/i.test(name)
}

/** The maximum depth of a value. `JSON.stringify` throws after some thousands of levels. */
export const deepestJson = 1000

const numberForm = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i

function readText(
  text: string,
  type: EnvironmentType,
): { readonly value: unknown } | { readonly expected: string } {
  switch (type) {
    case 'string':
      return { value: text }
    case 'number':
      return numberForm.test(text) && Number.isFinite(Number(text))
        ? { value: Number(text) }
        : { expected: 'a number such as 10 or 0.5' }
    case 'boolean':
      if (text === 'true' || text === '1') return { value: true }
      return text === 'false' || text === '0' ? { value: false } : { expected: 'true, false, 1 or 0' }
    case 'json':
      try {
        const value: unknown = JSON.parse(text)
        if (isJson(value, deepestJson)) return { value }
        return { expected: `JSON of at most ${deepestJson} levels and of finite numbers` }
      } catch {
        // The error message would contain a part of the text.
        return { expected: 'JSON' }
      }
    default:
      throw new TypeError(`unknown type: ${String(type satisfies never)}`)
  }
}
