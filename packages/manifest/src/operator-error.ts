import { escapeMessage } from '@serve-dist/foundation/text/escape-invisible'

/** What went wrong, as a name that no release changes; docs/errors.md has the cure of each. */
export type OperatorErrorCode =
  | 'SD_APPLICATION_UNUSABLE'
  | 'SD_BUILD_CHANGED'
  | 'SD_BUILD_NOT_FOUND'
  | 'SD_BUILD_UNFINISHED'
  | 'SD_CACHE_UNUSABLE'
  | 'SD_CONFIG_INVALID'
  | 'SD_ENVIRONMENT_INVALID'
  | 'SD_FOLDER_UNREADABLE'
  | 'SD_FOLDER_WRONG'
  | 'SD_LISTEN_FAILED'
  | 'SD_ENGINE_UNAVAILABLE'
  | 'SD_MANIFEST_INVALID'
  | 'SD_MANIFEST_LOST'
  | 'SD_MANIFEST_MISMATCH'
  | 'SD_MANIFEST_MISSING'
  | 'SD_OPTION_INVALID'
  | 'SD_PAGES_UNLISTED'
  | 'SD_PACKAGE_MISSING'
  | 'SD_PASS_FAILED'
  | 'SD_REPORT_FAILED'
  | 'SD_GENERATION_MISSING'
  | 'SD_STORE_CONFLICT'
  | 'SD_STORE_INVALID'
  | 'SD_STORE_UNAVAILABLE'
  | 'SD_STORE_UNCONDITIONAL'
  | 'SD_TLS_UNUSABLE'
  | 'SD_VITE_UNSUPPORTED'
  | 'SD_WORKERS_FAILED'
  | 'SD_WRITE_FAILED'

export interface OperatorErrorOptions extends ErrorOptions {
  /** A line of the message above the problems, which are then indented. */
  readonly heading?: string
}

/**
 * Something that the operator of a build or a server can mend. The message lists every problem: what is wrong, where,
 * and the fix.
 */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
  /** Stable across releases. */
  readonly code: OperatorErrorCode
  // Private, so that a program that prints the error's fields, as Vite does, does not print the problems twice.
  readonly #problems: readonly string[]

  constructor(
    code: OperatorErrorCode,
    problems: string | readonly string[],
    { heading, ...options }: OperatorErrorOptions = {},
  ) {
    // Names of files and values of others stand in it, and it is printed as it is.
    const list = (typeof problems === 'string' ? [problems] : problems).map(escapeMessage)
    const lines = heading === undefined ? list : [heading, ...list.map((problem) => `  ${problem}`)]
    super(lines.join('\n'), options)
    this.code = code
    this.#problems = list
  }

  /** One entry each, such as `$.files[3].size: expected a whole number of bytes, found "12"`. */
  get problems(): readonly string[] {
    return this.#problems
  }
}
