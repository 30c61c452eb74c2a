import { existsSync } from 'node:fs'
import { isIP } from 'node:net'
import { cspModes } from '../rules/read-rules.ts'

/**
 * Rewrites the arguments for commander: `help compress` becomes `compress --help`, and the values of `--host` and `--csp`
 * are joined with `=`. Otherwise commander would take the folder or the next flag as their value.
 *
 * @param words - the arguments without the two names of the program.
 */
export function normalizeArguments(words: readonly string[], commands: readonly string[]): readonly string[] {
  const [first = '', second = ''] = words
  if (first === '--help=all') return ['--help', 'all']
  if (first === 'help' || (/^(?:-h|--help)$/.test(first) && commands.includes(second)))
    return second === 'all' ? ['--help', 'all'] : [...words.slice(1, 2), '--help']
  const joined = joinValues(words, {
    is: (word) => word === '--csp',
    takes: isMeantAsCspMode,
    alone: '--csp=enforce',
  })
  // `-H` is a request header in other commands.
  if (commands.includes(first)) return joined
  return joinValues(joined, { is: isHostFlag, takes: isAddress, alone: '--host=*' })
}

interface OptionalValue {
  readonly is: (word: string) => boolean
  readonly takes: (value: string) => boolean
  /** The flag with its default value. */
  readonly alone: string
}

function joinValues(words: readonly string[], { is, takes, alone }: OptionalValue): readonly string[] {
  return words.flatMap((word, index) => {
    if (is(words[index - 1] ?? '') && takes(word)) return []
    const next = words[index + 1]
    if (!is(word)) return [word]
    return next !== undefined && takes(next) ? [alone.replace(/=.*/, () => `=${next}`)] : [alone]
  })
}

/** Whether the argument after `--csp` is a mode, possibly a wrong one, and not a folder. The default folder may be missing. */
function isMeantAsCspMode(word: string): boolean {
  if (cspModes.some((mode) => mode === word)) return true
  return /^\w[\w-]*$/.test(word) && word !== 'dist' && !existsSync(word)
}

function isHostFlag(word: string): boolean {
  return word === '--host' || word === '-H'
}

/** Whether the argument after `--host` is an address and not a folder. */
function isAddress(word: string): boolean {
  if (isIP(word) !== 0 || word === 'localhost') return true
  return /^[\w-]+(?:\.[\w-]+)+$/.test(word) && !existsSync(word)
}
