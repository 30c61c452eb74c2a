import { existsSync } from 'node:fs'
import { isIP } from 'node:net'

/**
 * The words of a command line as commander takes them: `help compress` is `compress --help`, and `--host` has its value
 * behind `=`, so that it takes neither the folder nor the next flag for one.
 *
 * @param words - without the program's two names.
 */
export function readWords(words: readonly string[], commands: readonly string[]): readonly string[] {
  const [first = '', second = ''] = words
  if (first === '--help=all') return ['--help', 'all']
  if (first === 'help' || (/^(?:-h|--help)$/.test(first) && commands.includes(second)))
    return second === 'all' ? ['--help', 'all'] : [...words.slice(1, 2), '--help']
  // `-H` is a field, in other commands.
  if (commands.includes(first)) return words
  return words.flatMap((word, index) => {
    if (isHostFlag(words[index - 1]) && isAddress(word)) return []
    const next = words[index + 1]
    return isHostFlag(word) ? [`--host=${next !== undefined && isAddress(next) ? next : '*'}`] : [word]
  })
}

function isHostFlag(word: string | undefined): boolean {
  return word === '--host' || word === '-H'
}

/** Whether it is hardly the folder that stands behind `--host`. */
function isAddress(word: string): boolean {
  if (isIP(word) !== 0 || word === 'localhost') return true
  return /^[\w-]+(?:\.[\w-]+)+$/.test(word) && !existsSync(word)
}
