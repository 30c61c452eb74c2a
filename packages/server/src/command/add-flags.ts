import { type Command, Option } from 'commander'
import { defaultOf, type Flag, flagName, flagTerm, valueOf } from './flags.ts'

export interface ShownFlags {
  /** Whether the help lists all flags, not only the common ones. */
  readonly showsAll: boolean
  readonly words: readonly string[]
  /** Receives the problems with values. */
  readonly problems: string[]
}

export function addFlags(command: Command, table: object, { showsAll, words, problems }: ShownFlags): void {
  for (const [name, flag] of Object.entries<Flag>({ ...table })) {
    const { help, group, isCommon, environment, isRepeatable, letter } = flag
    const notes = [
      ...(isRepeatable === true ? ['repeatable'] : []),
      ...(defaultOf(flag) === undefined ? [] : [`default: ${defaultOf(flag)}`]),
      ...(environment === undefined || !showsAll ? [] : [`env: ${environment}`]),
    ]
    const option = new Option(
      flagTerm(name, flag),
      notes.length === 0 ? help : `${help} (${notes.join(', ')})`,
    )
      .helpGroup(`${group}:`)
      .hideHelp(!showsAll && isCommon !== true)
    // `--no-…` is a separate flag here, not the opposite of another one.
    option.negate = false
    if (flag.default !== undefined) option.default(flag.default)
    if (environment !== undefined) option.env(environment)
    if (valueOf(flag) !== '') {
      // Commander reads variables after it has read the command line, so a given flag wins.
      const isGiven = words.some(
        (word) =>
          word === flagName(name) ||
          word.startsWith(`${flagName(name)}=`) ||
          (letter !== undefined && word.startsWith(`-${letter}`)),
      )
      const source = isGiven || environment === undefined ? flagName(name) : environment
      option.argParser((text: string, earlier: unknown) => {
        const found = readValue(flag, text)
        if ('problem' in found) problems.push(`${source}: ${found.problem}`)
        const value = 'value' in found ? found.value : undefined
        return isRepeatable === true ? [earlier ?? [], value].flat() : value
      })
    }
    command.addOption(option)
  }
}

function readValue(
  { choices, read, isRepeatable }: Flag,
  text: string,
): { readonly value: unknown } | { readonly problem: string } {
  if (/^--./.test(text)) return { problem: `expected a value, found the flag ${text}` }
  if (choices !== undefined && !choices.includes(text)) {
    return { problem: `expected one of ${choices.join(', ')}, found "${text}"` }
  }
  try {
    return { value: read === undefined ? (isRepeatable === true ? [text] : text) : read(text) }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}
