import {
  countingPolicyRules,
  environmentOrigins,
  type Fields,
  OperatorError,
  s,
  servingRuleNames,
} from '@serve-dist/manifest'
import { describeMismatch } from '@serve-dist/foundation/values/describe-mismatch'
import { describeUnknownName } from '@serve-dist/foundation/text/describe-unknown-name'
import { type PrecompressOptions, resolvePrecompressOptions } from '@serve-dist/precompress'
import { type Budget, parseBudgets } from '@serve-dist/report'
import {
  type EnvironmentOptions,
  environmentOptionNames,
  type EnvironmentSettings,
  readEnvironmentOptions,
} from './environment/environment-settings.ts'

/** Options of the plugin. All other settings come from Vite's configuration. */
export interface ServeDistOptions
  extends Pick<PrecompressOptions, CompressionOptionName>, EnvironmentOptions {
  /**
   * The resources that the server announces for a page, in `Link` fields and early hints: its module scripts and
   * stylesheets. `false` announces nothing.
   *
   * @default { fonts: false }
   */
  readonly preload?: false | PreloadOptions
  /**
   * Size limits, such as `assets/*.js=150kb:br` or `total=500kb`. A build that exceeds one of them fails.
   *
   * @default []
   */
  readonly budgets?: readonly string[]
  /**
   * Whether the build ends with the compression step. With `false` the plugin only records what the bundler knows. Run
   * `serve-dist compress` after the last program that writes into the folder.
   *
   * @default true
   */
  readonly pass?: boolean
}

/** Announcements of pages in addition to scripts and styles. */
export interface PreloadOptions {
  /**
   * Whether to announce the WOFF2 fonts of these stylesheets. Of a font in several subsets, only the Latin one.
   *
   * @default false
   */
  readonly fonts?: boolean
}

const compressionOptionNames = [
  'include',
  'exclude',
  'codings',
  'minimumSize',
  'bytesInFlight',
  'cache',
  'cacheSize',
  'durable',
  'serving',
] as const

type CompressionOptionName = (typeof compressionOptionNames)[number]

/** Resolved options. */
export interface ServeDistSettings {
  readonly precompress: Pick<PrecompressOptions, CompressionOptionName> & { readonly minimumSize?: number }
  readonly preload: Required<PreloadOptions> | false
  readonly budgets: readonly Budget[]
  readonly pass: boolean
  /** The environment variables of the server that the application reads. */
  readonly environment: EnvironmentSettings | undefined
}

type OwnOptions = Required<Pick<ServeDistOptions, 'preload' | 'budgets' | 'pass'>>

const ownFields: Fields<OwnOptions> = {
  preload: s.withDefault(s.expecting('false or { fonts: true or false }', isPreload), () => ({})),
  budgets: s.withDefault(s.expecting('a list of texts such as "assets/*.js=150kb:br"', isTextList), () => []),
  pass: s.withDefault(s.trueOrFalse, () => true),
}

const ownSchema = s.objectOf<OwnOptions>(ownFields)

const names: readonly string[] = [
  ...compressionOptionNames,
  ...Object.keys(ownFields),
  ...environmentOptionNames,
]
export { names as serveDistOptionNames }

/**
 * Checks the options when Vite reads its configuration, before the build.
 *
 * @throws OperatorError that lists all invalid options.
 */
export function resolveServeDistOptions(options: ServeDistOptions): ServeDistSettings {
  if (!isObject(options)) {
    throw wrongOptions([
      `serveDist options: ${describeMismatch("an object such as { minimumSize: '2kb' }", options)}`,
    ])
  }
  const given: Readonly<Record<string, unknown>> = { ...options }
  const problems = Object.keys(given)
    .filter((name) => !names.includes(name))
    .map((name) => `serveDist option "${name}": ${describeUnknown(name)}`)
  const compressionOptions = Object.fromEntries(compressionOptionNames.map((name) => [name, given[name]]))
  const resolved =
    collect(problems, () => Object.entries(resolvePrecompressOptions(compressionOptions))) ?? []
  const own = collect(problems, () => s.read(ownSchema, given, '', wrongOwnOptions))
  const { budgets } = options
  const parsedBudgets = (isTextList(budgets) && collect(problems, () => parseBudgets(budgets))) || []
  const environment = collect(problems, () => readEnvironmentOptions(options))
  // Without valid options, names cannot be checked.
  const policy = problems.length > 0 ? [] : (countingPolicyRules([options.serving?.csp]) ?? [])
  const { ruleProblems } = environmentOrigins(policy, environment?.environment)
  problems.push(...ruleProblems.map((problem) => `serveDist option serving.${problem}`))
  if (own === undefined || problems.length > 0) throw wrongOptions(problems)
  const { preload, pass } = own
  return {
    precompress: Object.fromEntries(resolved.filter(([name]) => compressionOptions[name] !== undefined)),
    preload: preload === false ? false : { fonts: preload.fonts ?? false },
    budgets: parsedBudgets,
    pass,
    environment,
  }
}

function wrongOwnOptions(problems: readonly string[]): OperatorError {
  return new OperatorError(
    'SD_OPTION_INVALID',
    problems.map((problem) => problem.replace(/^(\w+)/, 'option "$1"')),
  )
}

/** Creates an error whose stack is its message, because Vite prints the stack of errors in a configuration. */
function wrongOptions(problems: readonly string[]): OperatorError {
  const error = new OperatorError('SD_OPTION_INVALID', problems)
  error.stack = `${error.name}: ${error.message}`
  return error
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function describeUnknown(name: string): string {
  if (servingRuleNames().includes(name)) return `unknown option. Did you mean serving: { ${name} }?`
  return `${describeUnknownName('option', name, names)} Other settings come from Vite's configuration.`
}

/** Returns the result of `read`. If it throws, adds its problems to the list and returns `undefined`. */
function collect<Result>(problems: string[], read: () => Result): Result | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    problems.push(...error.problems.map((problem) => `serveDist ${problem}`))
    return undefined
  }
}

function isPreload(value: unknown): boolean {
  if (value === false) return true
  return (
    isObject(value) &&
    Object.entries(value).every(([name, choice]) => name === 'fonts' && typeof choice === 'boolean')
  )
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string')
}
