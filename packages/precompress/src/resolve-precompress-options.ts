import { byteSizeForm, byteSizeOf } from '@serve-dist/foundation/text/byte-size'
import {
  checkServingRules,
  contentCodings,
  isBasePath,
  OperatorError,
  pathProblem,
} from '@serve-dist/manifest'
import { escapeMessage } from '@serve-dist/foundation/text/escape-invisible'
import { globProblem } from '@serve-dist/foundation/text/glob-problem'
import { isNegative } from '@serve-dist/foundation/text/is-negative'
import { mismatch } from '@serve-dist/foundation/values/mismatch'
import type { PrecompressOptions } from './precompress-options.ts'

/** Only the files decide `appType`, and the folder `cacheDirectory`; `serving`, `environment` and `signal` may be left out. */
type WithoutDefault = 'appType' | 'cacheDirectory' | 'serving' | 'environment' | 'signal'

const sizes = ['minimumSize', 'bytesInFlight', 'cacheSize'] as const

/** Every option with a value; sizes in bytes. */
export type ResolvedPrecompressOptions = Readonly<
  Required<Omit<PrecompressOptions, WithoutDefault | (typeof sizes)[number]>> & {
    [Name in WithoutDefault]: PrecompressOptions[Name] | undefined
  } & Record<(typeof sizes)[number], number>
>

const codingNames = contentCodings.map(({ name }) => name)
const appTypes = ['spa', 'mpa', 'custom'] as const

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
  environment: undefined,
  linksOf: () => [],
  signal: undefined,
  onProgress: () => {},
  onWarning: () => {},
}

/** What an option must be, in words, and the check of it. */
type Check = readonly [expected: string, holds: (value: unknown) => boolean]

const isFunction: Check = ['a function', (value) => typeof value === 'function']
const isBoolean: Check = ['true or false', (value) => typeof value === 'boolean']
const isByteSize: Check = [byteSizeForm, (value) => Number.isSafeInteger(byteSizeOf(value))]
const patterns =
  'a list of glob patterns relative to the folder, such as "assets/**", with three stars in a segment at most'

/** `serving` is checked by `checkServingRules`. */
const checks: Readonly<Record<Exclude<keyof ResolvedPrecompressOptions, 'serving'>, Check>> = {
  include: [
    `${patterns}, at least one of them without "!"`,
    (value) => isPatternList(value) && value.some((pattern) => !isNegative(pattern)),
  ],
  exclude: [
    `${patterns}, none of them with "!": each pattern is matched by itself, so that one would leave out everything else`,
    (value) => isPatternList(value) && !value.some(isNegative),
  ],
  base: [
    'a path that begins and ends with "/", such as "/app/"',
    (value) => typeof value === 'string' && isBasePath(value),
  ],
  appType: [
    `one of ${appTypes.map(quote).join(', ')}`,
    (value) => value === undefined || appTypes.some((appType) => appType === value),
  ],
  assetsDirectory: [
    'a relative folder without a slash at its end, such as "assets", or ""',
    (value) => typeof value === 'string' && (value === '' || pathProblem(value) === undefined),
  ],
  isHashed: isFunction,
  codings: [
    `a list of ${codingNames.map(quote).join(', ')}`,
    (value) => Array.isArray(value) && value.every((item) => codingNames.some((coding) => coding === item)),
  ],
  minimumSize: isByteSize,
  bytesInFlight: [`${byteSizeForm}, not 0`, (value) => isByteSize[1](value) && byteSizeOf(value) !== 0],
  cache: isBoolean,
  cacheDirectory: [
    'a folder, such as "node_modules/.cache/serve-dist"',
    (value) => value === undefined || (typeof value === 'string' && value !== ''),
  ],
  cacheSize: isByteSize,
  durable: isBoolean,
  environment: ['an object', (value) => value === undefined || typeof value === 'object'],
  linksOf: isFunction,
  signal: ['an AbortSignal', (value) => value === undefined || value instanceof AbortSignal],
  onProgress: isFunction,
  onWarning: isFunction,
}

/**
 * Checks the options and fills in the defaults; codings come out in the order of the manifest.
 *
 * @throws {@link OperatorError} that lists every wrong option.
 */
export function resolvePrecompressOptions(options: PrecompressOptions): ResolvedPrecompressOptions {
  const known = Object.keys(defaults)
  const given = Object.entries(options)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, isSizeName(name) ? (byteSizeOf(value) ?? value) : value])
  const resolved: ResolvedPrecompressOptions = { ...defaults, ...Object.fromEntries(given) }
  const problems = [
    ...Object.keys(options)
      .filter((name) => !known.includes(name))
      .map((name) => `option "${name}": unknown; the options are ${known.join(', ')}`),
    ...servingProblems(resolved.serving),
    ...Object.entries(checks).flatMap(([name, [expected, holds]]) => {
      const value: unknown = Reflect.get(resolved, name)
      return holds(value) ? [] : [`option "${name}": ${mismatch(expected, value)}`]
    }),
  ]
  if (problems.length > 0) throw new OperatorError('SD_OPTION_INVALID', problems)
  const { onWarning } = resolved
  return {
    ...resolved,
    onWarning: (message) => onWarning(escapeMessage(message)),
    codings: codingNames.filter((name) => resolved.codings.includes(name)),
  }
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
  return globProblem(pattern) === undefined && !/^!?(?:\/|[A-Za-z]:|(?:\.\/)*\.\.(?:\/|$))/.test(pattern)
}

function isSizeName(name: string): boolean {
  return sizes.some((size) => size === name)
}

function quote(text: string): string {
  return JSON.stringify(text)
}
