import { type EnvironmentType, OperatorError, type RuntimeEnvironment, s } from '@serve-dist/manifest'
import { findNearestName } from '@serve-dist/foundation/text/find-nearest-name'

/** Options for environment variables of the server. */
export interface EnvironmentOptions {
  /**
   * The values of `import env from 'virtual:serve-dist/env'`, by name. The server reads them from its environment when
   * it starts.
   *
   * @default none
   */
  readonly env?: Readonly<Record<string, EnvironmentVariableOptions>>
  /**
   * A prefix of the environment variables. With `APP_`, `API_URL` is read from `APP_API_URL`.
   *
   * @default ''
   */
  readonly envPrefix?: string
  /**
   * The file with the values, relative to the build's folder.
   *
   * @default 'serve-dist-env.js'
   */
  readonly envFileName?: string
  /**
   * The file with the types of the values, relative to the root. `false` writes no file.
   *
   * @default 'src/serve-dist-env.d.ts' if the root has `src`, otherwise 'serve-dist-env.d.ts'
   */
  readonly envTypes?: string | false
}

/** One value of the environment. */
export interface EnvironmentVariableOptions {
  /**
   * The type of the value, which the server parses from the variable's text.
   *
   * @default 'string'
   */
  readonly type?: EnvironmentType
  /**
   * The server rejects an environment without this variable.
   *
   * @default false
   */
  readonly required?: boolean
  /**
   * The value if the variable is not set.
   *
   * @default none: `undefined`
   */
  readonly default?: unknown
}

/** Resolved options of the environment. */
export interface EnvironmentSettings {
  readonly environment: RuntimeEnvironment
  readonly types: string | false | undefined
}

export const defaultEnvironmentFile = 'serve-dist-env.js'

interface GivenEnvironment
  extends Required<Omit<EnvironmentOptions, 'env' | 'envTypes'>>, Pick<EnvironmentOptions, 'envTypes'> {
  readonly env?: RuntimeEnvironment['variables']
}

export const environmentOptionNames = ['env', 'envPrefix', 'envFileName', 'envTypes'] as const

const environmentOptions = s.objectOf<GivenEnvironment>({
  env: s.optional(s.environmentVariables({ unknownKey })),
  envPrefix: s.withDefault(s.text('a prefix of names, such as "APP_"', /^(?:[A-Za-z_]\w*)?$/), () => ''),
  envFileName: s.withDefault(
    s.text('a file name such as "serve-dist-env.js"', /^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.m?js$/),
    () => defaultEnvironmentFile,
  ),
  envTypes: s.optional(
    s.expecting<string | false>(
      'false or a path such as "src/serve-dist-env.d.ts"',
      (value) => value === false || (typeof value === 'string' && /\.d\.[cm]?ts$/.test(value)),
    ),
  ),
})

/**
 * Reads the options of the environment. Returns `undefined` without `env`.
 *
 * @throws OperatorError that lists all invalid options.
 */
export function readEnvironmentOptions(options: {
  readonly [Name in keyof EnvironmentOptions]?: unknown
}): EnvironmentSettings | undefined {
  const { env, envPrefix, envFileName, envTypes } = s.read(
    environmentOptions,
    options,
    '',
    (problems) =>
      new OperatorError(
        'SD_OPTION_INVALID',
        problems.map((problem) => `option ${problem}`),
      ),
  )
  if (env === undefined) return undefined
  return { environment: { path: envFileName, prefix: envPrefix, variables: env }, types: envTypes }
}

function unknownKey(key: string, known: readonly string[]): string {
  const nearest = findNearestName(key, known)
  return `unknown name. ${nearest === undefined ? `Valid names: ${known.join(', ')}` : `Did you mean "${nearest}"?`}`
}
