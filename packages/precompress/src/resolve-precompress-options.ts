import {
  OperatorError,
  type AppType,
  type ContentCoding,
  contentCodings,
  isBasePath,
  pathProblem,
  type ServingRules,
  checkServingRules,
} from '@serve-dist/manifest'
import { isNegative, type LinksOf, type PrecompressOptions, type Progress } from './precompress-options.ts'

/**
 * Every option with a value; `appType` is the one that only the files can decide, `serving` may say nothing,
 * `cacheDirectory` depends on the folder, and nobody needs to have a `signal`.
 */
export interface ResolvedPrecompressOptions {
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  readonly base: string
  readonly appType: AppType | undefined
  readonly assetsDirectory: string
  readonly isHashed: (path: string, sha256: string) => boolean
  readonly codings: readonly ContentCoding[]
  readonly minimumSize: number
  readonly bytesInFlight: number
  readonly cache: boolean
  readonly cacheDirectory: string | undefined
  readonly cacheSize: number
  readonly durable: boolean
  readonly serving: ServingRules | undefined
  readonly linksOf: LinksOf
  readonly signal: AbortSignal | undefined
  readonly onProgress: (progress: Progress) => void
  readonly onWarning: (message: string) => void
}

const codingNames = contentCodings.map(({ name }) => name)
const appTypes: readonly AppType[] = ['spa', 'mpa', 'custom']

const defaults: ResolvedPrecompressOptions = {
  include: ['**'],
  exclude: [],
  base: '/',
  appType: undefined,
  assetsDirectory: '',
  isHashed: () => false,
  codings: codingNames,
  minimumSize: 256,
  bytesInFlight: 64 * 1024 * 1024,
  cache: true,
  cacheDirectory: undefined,
  cacheSize: 512 * 1024 * 1024,
  durable: true,
  serving: undefined,
  linksOf: () => [],
  signal: undefined,
  onProgress: () => {},
  onWarning: () => {},
}

/**
 * Checks the options and fills in the defaults; codings come out in the order of the manifest.
 *
 * @throws {@link OperatorError} that lists every wrong option.
 */
export function resolvePrecompressOptions(options: PrecompressOptions): ResolvedPrecompressOptions {
  const resolved: ResolvedPrecompressOptions = {
    include: options.include ?? defaults.include,
    exclude: options.exclude ?? defaults.exclude,
    base: options.base ?? defaults.base,
    appType: options.appType ?? defaults.appType,
    assetsDirectory: options.assetsDirectory ?? defaults.assetsDirectory,
    isHashed: options.isHashed ?? defaults.isHashed,
    codings: options.codings ?? defaults.codings,
    minimumSize: options.minimumSize ?? defaults.minimumSize,
    bytesInFlight: options.bytesInFlight ?? defaults.bytesInFlight,
    cache: options.cache ?? defaults.cache,
    cacheDirectory: options.cacheDirectory ?? defaults.cacheDirectory,
    cacheSize: options.cacheSize ?? defaults.cacheSize,
    durable: options.durable ?? defaults.durable,
    serving: options.serving ?? defaults.serving,
    linksOf: options.linksOf ?? defaults.linksOf,
    signal: options.signal ?? defaults.signal,
    onProgress: options.onProgress ?? defaults.onProgress,
    onWarning: options.onWarning ?? defaults.onWarning,
  }
  const problems = [
    ...unknownNames(options),
    ...servingProblems(resolved.serving),
    ...checks.flatMap(({ name, expected, holds }) =>
      holds(resolved[name]) ? [] : [`option "${name}": expected ${expected}, found ${show(resolved[name])}`],
    ),
  ]
  if (problems.length > 0) throw new OperatorError('SD_OPTION_INVALID', problems)
  return { ...resolved, codings: codingNames.filter((name) => resolved.codings.includes(name)) }
}

interface Check {
  readonly name: keyof ResolvedPrecompressOptions
  readonly expected: string
  readonly holds: (value: unknown) => boolean
}

const patterns = 'a list of glob patterns relative to the folder, such as "assets/**"'

const checks: readonly Check[] = [
  {
    name: 'include',
    expected: `${patterns}, at least one of them without "!"`,
    holds: (value) => isPatternList(value) && value.some((pattern) => !isNegative(pattern)),
  },
  {
    name: 'exclude',
    expected: `${patterns}, none of them with "!", for each is asked by itself and would leave out everything else`,
    holds: (value) => isPatternList(value) && !value.some(isNegative),
  },
  { name: 'base', expected: 'a path that begins and ends with "/", such as "/app/"', holds: isBase },
  {
    name: 'appType',
    expected: `one of ${appTypes.map(show).join(', ')}`,
    holds: (value) => value === undefined || appTypes.some((appType) => appType === value),
  },
  {
    name: 'assetsDirectory',
    expected: 'a relative folder without a slash at its end, such as "assets", or ""',
    holds: (value) => typeof value === 'string' && (value === '' || pathProblem(value) === undefined),
  },
  { name: 'isHashed', expected: 'a function', holds: isFunction },
  {
    name: 'codings',
    expected: `a list of ${codingNames.map(show).join(', ')}`,
    holds: (value) =>
      Array.isArray(value) && value.every((item) => codingNames.some((coding) => coding === item)),
  },
  { name: 'minimumSize', expected: 'a whole number of bytes', holds: (value) => isWhole(value, 0) },
  {
    name: 'bytesInFlight',
    expected: 'a whole number of bytes, at least 1',
    holds: (value) => isWhole(value, 1),
  },
  { name: 'linksOf', expected: 'a function', holds: isFunction },
  { name: 'cache', expected: 'true or false', holds: isBoolean },
  {
    name: 'cacheDirectory',
    expected: 'a folder, such as "node_modules/.cache/serve-dist"',
    holds: (value) => value === undefined || (typeof value === 'string' && value !== ''),
  },
  { name: 'cacheSize', expected: 'a whole number of bytes', holds: (value) => isWhole(value, 0) },
  { name: 'durable', expected: 'true or false', holds: isBoolean },
  {
    name: 'signal',
    expected: 'an AbortSignal',
    holds: (value) => value === undefined || value instanceof AbortSignal,
  },
  { name: 'onProgress', expected: 'a function', holds: isFunction },
  { name: 'onWarning', expected: 'a function', holds: isFunction },
]

function unknownNames(options: PrecompressOptions): string[] {
  const known = Object.keys(defaults)
  return Object.keys(options)
    .filter((name) => !known.includes(name))
    .map((name) => `option "${name}": not known; the options are ${known.join(', ')}`)
}

function servingProblems(serving: unknown): string[] {
  if (serving === undefined) return []
  try {
    checkServingRules(serving, 'serving')
    return []
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    return error.problems.map((problem) => `option ${problem}`)
  }
}

function isPatternList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string' && isInnerPattern(item))
}

function isInnerPattern(pattern: string): boolean {
  return pattern !== '' && !/^!?(?:\/|[A-Za-z]:|(?:\.\/)*\.\.(?:\/|$))/.test(pattern)
}

function isBase(value: unknown): boolean {
  return typeof value === 'string' && isBasePath(value)
}

function isWhole(value: unknown, minimum: number): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= minimum
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean'
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? String(value)
}
