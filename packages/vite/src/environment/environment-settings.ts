import { type EnvironmentType, OperatorError, type RuntimeEnvironment, s } from '@serve-dist/manifest'
import { findNearestName } from '@serve-dist/foundation/text/find-nearest-name'

/** What the application takes from the environment of the process that serves it. */
export interface EnvironmentOptions {
  /**
   * What `import env from 'virtual:serve-dist/env'` gives the application, by name: values that the server reads from
   * its environment when it starts.
   *
   * @default none
   */
  readonly env?: Readonly<Record<string, EnvironmentVariableOptions>>
  /**
   * What the names of the environment's variables begin with: `APP_` reads `API_URL` from `APP_API_URL`.
   *
   * @default ''
   */
  readonly envPrefix?: string
  /**
   * The file that holds the values, relative to the build's folder.
   *
   * @default 'serve-dist-env.js'
   */
  readonly envFileName?: string
  /**
   * The file with the types of the values, relative to the root; `false` for none.
   *
   * @default 'src/serve-dist-env.d.ts' where the root has `src`, else 'serve-dist-env.d.ts'
   */
  readonly envTypes?: string | false
}

/** One value of the environment. */
export interface EnvironmentVariableOptions {
  /**
   * How the variable's text is read.
   *
   * @default 'string'
   */
  readonly type?: EnvironmentType
  /**
   * Whether a server without it must not start.
   *
   * @default false
   */
  readonly required?: boolean
  /**
   * What the application gets where the variable is not set.
   *
   * @default none: `undefined`
   */
  readonly default?: unknown
}

/** The same, resolved. */
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
  envPrefix: s.withDefault(s.text('a beginning of names, such as "APP_"', /^(?:[A-Za-z_]\w*)?$/), () => ''),
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
 * Reads these options of the plugin. Without `env` there is no environment.
 *
 * @throws OperatorError that lists every wrong option.
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
  return `unknown; ${nearest === undefined ? `expected ${known.join(', ')}` : `did you mean "${nearest}"?`}`
}
