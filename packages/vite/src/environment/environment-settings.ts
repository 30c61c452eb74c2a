import { type EnvironmentType, OperatorError, type RuntimeEnvironment, s } from '@serve-dist/manifest'
import { describeUnknownName } from '@serve-dist/foundation/text/describe-unknown-name'

/** Options for environment variables of the server. */
export interface EnvironmentOptions {
  /**
   * The values of `import env from 'virtual:serve-dist/env'`, by name. The server reads them from its environment when it
   * starts.
   *
   * @default none
   */
  readonly env?: Readonly<Record<string, EnvironmentVariableOptions>>
  /**
   * The prefix of the environment variables. With `APP_`, the variable `APP_API_URL` sets `API_URL`.
   *
   * @default ''
   */
  readonly envPrefix?: string
  /**
   * The file that contains the values, relative to the output folder.
   *
   * @default 'serve-dist-env.js'
   */
  readonly envFileName?: string
  /**
   * The file with the types of the values, relative to the root. With `false` the plugin writes no types.
   *
   * @default 'src/serve-dist-env.d.ts', or `serve-dist-env.d.ts` if the root has no `src`
   */
  readonly envTypes?: string | false
}

/** One value of the environment. */
export interface EnvironmentVariableOptions {
  /**
   * The type of the value. `json` parses the variable.
   *
   * @default 'string'
   */
  readonly type?: EnvironmentType
  /**
   * Whether the server refuses to start if the variable is not set.
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
  return describeUnknownName('field', key, known)
}
