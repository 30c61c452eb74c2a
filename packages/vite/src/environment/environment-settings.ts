import {
  DocumentReader,
  type EnvironmentType,
  readEnvironmentVariables,
  type RuntimeEnvironment,
} from '@serve-dist/manifest'
import { nearestName } from '@serve-dist/foundation/text/nearest-name'

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
export const environmentOptionNames = ['env', 'envPrefix', 'envFileName', 'envTypes'] as const

/** Reads these options of the plugin; notes what is wrong with them. Without `env` there is no environment. */
export function readEnvironmentOptions(
  options: { readonly [Name in keyof EnvironmentOptions]?: unknown },
  problems: string[],
): EnvironmentSettings | undefined {
  const { envPrefix = '', envFileName = defaultEnvironmentFile, envTypes } = options
  const found: string[] = []
  const given = new DocumentReader('', { ...options, envPrefix, envFileName }, found)
  const types = given.field('envTypes')
  if (envTypes !== undefined && envTypes !== false) {
    types.matching(/\.d\.[cm]?ts$/, 'false or a path such as "src/serve-dist-env.d.ts"')
  }
  const env = given.field('env')
  const environment = {
    path: given
      .field('envFileName')
      .matching(/^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.m?js$/, 'a file name such as "serve-dist-env.js"'),
    prefix: given.field('envPrefix').matching(/^(?:[A-Za-z_]\w*)?$/, 'a beginning of names, such as "APP_"'),
    variables: env.value === undefined ? {} : readEnvironmentVariables(env),
  }
  for (const name of env.keys()) refuseUnknown(env.field(name))
  problems.push(...found.map((problem) => `serveDist option ${problem}`))
  if (env.value === undefined) return undefined
  return { environment, types: typeof envTypes === 'string' || envTypes === false ? envTypes : undefined }
}

const fieldNames = ['type', 'required', 'default']

function refuseUnknown(variable: DocumentReader): void {
  for (const name of variable.keys().filter((key) => !fieldNames.includes(key))) {
    const nearest = nearestName(name, fieldNames)
    const hint = nearest === undefined ? `expected ${fieldNames.join(', ')}` : `did you mean "${nearest}"?`
    variable.field(name).problem(`unknown; ${hint}`)
  }
}
