import { byteSizeForm } from '@serve-dist/foundation/text/byte-size'
import { describeUnknownName } from '@serve-dist/foundation/text/describe-unknown-name'
import { escapeMessage } from '@serve-dist/foundation/text/escape-invisible'
import { globProblem } from '@serve-dist/foundation/text/glob-problem'
import { isNegatedPattern } from '@serve-dist/foundation/text/is-negated-pattern'
import {
  type ContentCoding,
  contentCodings,
  OperatorError,
  type RuntimeEnvironment,
  pathProblem,
  s,
  type Schema,
} from '@serve-dist/manifest'
import type { PrecompressOptions } from './precompress-options.ts'

/** Options without a default. `appType` depends on the files, and `cacheDirectory` on the folder. */
type WithoutDefault = 'appType' | 'cacheDirectory' | 'serving' | 'environment' | 'signal'

type SizeName = 'minimumSize' | 'bytesInFlight' | 'cacheSize'

/** All options with values. Sizes are in bytes. */
export type ResolvedPrecompressOptions = Required<Omit<PrecompressOptions, WithoutDefault | SizeName>> &
  Readonly<{ [Name in WithoutDefault]: PrecompressOptions[Name] | undefined }> &
  Readonly<Record<SizeName, number>>

const codingNames = contentCodings.map(({ name }) => name)
const patterns =
  'a list of glob patterns relative to the folder, such as "assets/**", with at most three stars in a segment'

const precompressSchema = s.objectOf<ResolvedPrecompressOptions>(
  {
    include: s.withDefault(
      patternList('including one without "!"', (list) => list.some((pattern) => !isNegatedPattern(pattern))),
      () => ['**'],
    ),
    exclude: s.withDefault(
      patternList(
        'without "!", because each pattern is matched separately and would exclude all other files',
        (list) => !list.some(isNegatedPattern),
      ),
      () => [],
    ),
    base: s.withDefault(s.basePath, () => '/'),
    appType: s.optional(s.appType),
    assetsDirectory: s.withDefault(
      s.text(
        'a relative folder without a slash at its end, such as "assets", or ""',
        (path) => path === '' || pathProblem(path) === undefined,
      ),
      () => '',
    ),
    isHashed: s.withDefault(s.functionOf(), () => () => false),
    codings: s.withDefault(codings(), () => codingNames),
    minimumSize: s.withDefault(s.byteSize(byteSizeForm, Number.isSafeInteger), () => 256),
    bytesInFlight: s.withDefault(
      s.byteSize(`${byteSizeForm}, not 0`, (bytes) => Number.isSafeInteger(bytes) && bytes !== 0),
      () => 64 * 1024 * 1024,
    ),
    cache: s.withDefault(s.trueOrFalse, () => true),
    cacheDirectory: s.optional(s.filledText('a folder, such as "node_modules/.cache/serve-dist"')),
    cacheSize: s.withDefault(s.byteSize(byteSizeForm, Number.isSafeInteger), () => 512 * 1024 * 1024),
    durable: s.withDefault(s.trueOrFalse, () => true),
    serving: s.optional(s.writtenServingRules),
    environment: s.optional(
      s.expecting<RuntimeEnvironment>('an object', (value) => typeof value === 'object'),
    ),
    linksOf: s.withDefault(s.functionOf(), () => () => []),
    signal: s.optional(s.abortSignal),
    onProgress: s.withDefault(s.functionOf(), () => () => {}),
    onWarning: s.withDefault(s.functionOf(), () => () => {}),
  },
  { unknownKey: (key, known) => describeUnknownName('option', key, known) },
)

/**
 * Checks the options and adds the defaults. Sorts codings in the order of the manifest.
 *
 * @throws {@link OperatorError} that lists all invalid options.
 */
export function resolvePrecompressOptions(options: PrecompressOptions): ResolvedPrecompressOptions {
  const resolved = s.read(
    precompressSchema,
    options,
    '',
    (problems) =>
      new OperatorError(
        'SD_OPTION_INVALID',
        problems.map((problem) => `option ${withQuotes(problem)}`),
      ),
  )
  const { onWarning } = resolved
  return {
    ...resolved,
    // Keep the original order of the rules.
    serving: options.serving,
    onWarning: (message) => onWarning(escapeMessage(message)),
  }
}

/** Adds quotes to option names, but not to places of rules. */
function withQuotes(problem: string): string {
  return problem.replace(/^(?!serving:)(\w+):/, '"$1":')
}

function codings(): Schema<readonly ContentCoding[]> {
  const names = codingNames.map((name) => JSON.stringify(name))
  const list = s.expecting<readonly ContentCoding[]>(
    `a list of ${names.join(', ')}`,
    (value) => Array.isArray(value) && value.every((item) => codingNames.some((coding) => coding === item)),
  )
  return s.converted(list, (given) => codingNames.filter((name) => given.includes(name)))
}

function patternList(what: string, holds: (list: readonly string[]) => boolean): Schema<readonly string[]> {
  return s.expecting(`${patterns}, ${what}`, (value) => isPatternList(value) && holds(value))
}

function isPatternList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string' && isInnerPattern(item))
}

function isInnerPattern(pattern: string): boolean {
  return globProblem(pattern) === undefined && !/^!?(?:\/|[A-Za-z]:|(?:\.\/)*\.\.(?:\/|$))/.test(pattern)
}
