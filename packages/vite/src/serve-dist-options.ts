import { OperatorError, servingRuleNames, nearestName } from '@serve-dist/manifest'
import { type PrecompressOptions, resolvePrecompressOptions } from '@serve-dist/precompress'
import { type Budget, parseBudgets } from '@serve-dist/report'

/** The plugin's options; it takes everything else from Vite's own configuration. */
export interface ServeDistOptions extends Pick<PrecompressOptions, PassOptionName> {
  /**
   * What pages announce ahead, in `Link` fields and early hints: the module scripts and stylesheets that
   * they need, and with `fonts` the WOFF2 fonts of those stylesheets. `false`: nothing.
   *
   * @default { fonts: false }
   */
  readonly preload?: false | PreloadOptions
  /**
   * What the build may weigh, such as `assets/*.js=150kb:br` or `total=500kb`; a build that weighs more
   * fails.
   *
   * @default []
   */
  readonly budgets?: readonly string[]
  /**
   * Whether the build ends with a pass. `false`: it only writes down what the bundler knows, for
   * `serve-dist compress` after the last program that writes into the folder.
   *
   * @default true
   */
  readonly pass?: boolean
}

/** What pages announce besides scripts and styles. */
export interface PreloadOptions {
  /**
   * Whether to announce the WOFF2 fonts that a page's stylesheets declare; of fonts in parts, the Latin one.
   *
   * @default false
   */
  readonly fonts?: boolean
}

const passOptionNames = [
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

type PassOptionName = (typeof passOptionNames)[number]

/** All options, resolved. */
export interface ServeDistSettings {
  readonly precompress: Pick<PrecompressOptions, PassOptionName>
  readonly preload: Required<PreloadOptions> | false
  readonly budgets: readonly Budget[]
  readonly pass: boolean
}

const names: readonly string[] = [...passOptionNames, 'preload', 'budgets', 'pass']

/**
 * Checks the options when the configuration is read, not when the build has run.
 *
 * @throws OperatorError that lists every wrong option.
 */
export function resolveServeDistOptions(options: ServeDistOptions): ServeDistSettings {
  if (!isObject(options)) {
    throw wrongOptions([
      `serveDist options: expected an object such as { minimumSize: 2048 }, found ${show(options)}`,
    ])
  }
  const { preload = {}, budgets = [], pass = true, ...others } = options
  const problems = Object.keys(others)
    .filter((name) => !names.includes(name))
    .map((name) => `serveDist option "${name}": unknown; ${suggestion(name)}`)
  const precompress = Object.fromEntries(Object.entries(others).filter(([name]) => names.includes(name)))
  collect(problems, () => resolvePrecompressOptions(precompress))
  const parsedBudgets = collect(problems, () => readBudgets(budgets)) ?? []
  problems.push(...preloadProblems(preload))
  if (typeof pass !== 'boolean')
    problems.push(`serveDist option "pass": expected true or false, found ${show(pass)}`)
  if (problems.length > 0) throw wrongOptions(problems)
  return {
    precompress,
    preload: preload === false ? false : { fonts: preload.fonts ?? false },
    budgets: parsedBudgets,
    pass,
  }
}

/** Vite prints the stack of an error in a configuration. Here only the message helps the reader. */
function wrongOptions(problems: readonly string[]): OperatorError {
  const error = new OperatorError('SD_OPTION_INVALID', problems)
  error.stack = `${error.name}: ${error.message}`
  return error
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function suggestion(name: string): string {
  const all = `he options are ${names.join(', ')}, all else is taken from Vite's configuration`
  if (servingRuleNames.includes(name)) return `did you mean serving: { ${name} }? T${all}`
  const { name: nearest, changes } = nearestName(name, names)
  // A name that differs more is not a typing error, but an option of Vite or of another plugin.
  return changes <= nearest.length / 3 ? `did you mean "${nearest}"? T${all}` : `t${all}`
}

/** What `read` returns; if it throws, undefined, with its problems added to the others. */
function collect<Result>(problems: string[], read: () => Result): Result | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    problems.push(...error.problems.map((problem) => `serveDist ${problem}`))
    return undefined
  }
}

function readBudgets(budgets: unknown): Budget[] {
  if (Array.isArray(budgets) && budgets.every((text) => typeof text === 'string'))
    return parseBudgets(budgets)
  throw new OperatorError('SD_OPTION_INVALID', [
    `option "budgets": expected a list of texts such as "assets/*.js=150kb:br", found ${show(budgets)}`,
  ])
}

function preloadProblems(preload: unknown): string[] {
  if (preload === false) return []
  const isKnown =
    isObject(preload) &&
    Object.entries(preload).every(([name, value]) => name === 'fonts' && typeof value === 'boolean')
  return isKnown
    ? []
    : [`serveDist option "preload": expected false or { fonts: true or false }, found ${show(preload)}`]
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? String(value)
}
