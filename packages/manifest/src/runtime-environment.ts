import { isJson } from '@serve-dist/foundation/values/is-json'

/** What a build takes from the environment of the process that serves it, when that process starts. */
export interface RuntimeEnvironment {
  /** Of the module that holds the values, relative to the build's folder. On the disk it holds the defaults. */
  readonly path: string
  /** What the name of each environment variable begins with, before the name of the value; `''` for nothing. */
  readonly prefix: string
  /** By the name under which the application reads it. */
  readonly variables: Readonly<Record<string, EnvironmentVariable>>
}

/** One value of the environment. */
export interface EnvironmentVariable {
  readonly type: EnvironmentType
  /** Whether a server without it must not start. */
  readonly required?: true
  /** What the application gets where the variable is not set; absent: nothing. */
  readonly default?: unknown
}

/** How the text of a variable becomes a value. */
export type EnvironmentType = (typeof environmentTypes)[number]

export const environmentTypes: readonly ['string', 'number', 'boolean', 'json'] = [
  'string',
  'number',
  'boolean',
  'json',
]

/** Texts by the names of variables, such as `process.env`. */
export type EnvironmentSource = Readonly<Record<string, string | undefined>>

/** Values by name, as the application gets them. */
export type EnvironmentValues = Readonly<Record<string, unknown>>

/** The values, and a line for each variable that is wrong; it names the variable and never its text. */
export interface ReadEnvironment {
  readonly values: EnvironmentValues
  readonly problems: readonly string[]
}

/**
 * Reads the listed variables, and no other one. An empty text counts as not set, but for a string that is not required.
 */
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
  // Not by assignment: a value may be called `__proto__`.
  return { values: Object.fromEntries(values), problems }
}

/** The values where no variable is set. */
export function environmentDefaults({ variables }: Pick<RuntimeEnvironment, 'variables'>): EnvironmentValues {
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, variable]) =>
      variable.default === undefined ? [] : [[name, variable.default]],
    ),
  )
}

/** The text of the module. The values are data in it, so that none of them can become code. */
export function environmentModule(values: EnvironmentValues): string {
  const data = JSON.stringify(JSON.stringify(values)).replaceAll(
    /[<\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `export default Object.freeze(JSON.parse(${data}))\n`
}

/** Whether a name says that its value is secret: everybody can read the module. */
export function isSecretName(name: string): boolean {
  return /(?:^|_)(?:secret|key|token|password)$/i.test(name)
}

/** Levels of arrays and objects that a value may have: `JSON.stringify` ends in an error from some thousands on. */
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
        // The error shows a part of the text.
        return { expected: 'JSON' }
      }
    default:
      throw new TypeError(`unknown type: ${String(type satisfies never)}`)
  }
}
