import { existsSync } from 'node:fs'
import { buildNotFound, OperatorError } from '@serve-dist/manifest'
import { findNearestName } from '@serve-dist/foundation/text/find-nearest-name'
import type { Command, CommanderError, Option } from 'commander'
import { removedFlags } from './removed-options.ts'

// Errors of the command line, with suggestions.

/**
 * Refuses an unknown command, which would otherwise be the name of a folder.
 *
 * @throws OperatorError with the nearest command.
 */
export function refuseUnknownCommand({ commands }: Command, [word = '']: readonly string[]): void {
  const names = commands.map((command) => command.name())
  const nearest = names.includes(word) ? undefined : findNearestName(word, names)
  if (nearest === undefined || existsSync(word)) return
  throw new OperatorError(
    'SD_OPTION_INVALID',
    `unknown command or folder "${word}". Did you mean serve-dist ${nearest}?`,
  )
}

/** Throws an error with the problems, if there are any. */
export function throwUsageError(command: Command, problems: readonly string[]): void {
  if (problems.length === 0) return
  const name = command.parent === null ? command.name() : `${command.parent.name()} ${command.name()}`
  const usage = `Run ${name} --help${command.parent === null ? ' all' : ''} for usage`
  throw problems.length === 1
    ? new OperatorError('SD_OPTION_INVALID', `${problems[0]}\n${usage}`)
    : new OperatorError('SD_OPTION_INVALID', problems, { heading: `${problems.length} problems. ${usage}:` })
}

/** Describes an error of commander in our format, with the expected value or the nearest flag. */
export function describeCommanderError(command: Command, { code, message }: CommanderError): string {
  const quoted = /'([^'=]+)/.exec(message)?.[1] ?? ''
  switch (code) {
    case 'commander.unknownOption':
      return describeUnknownFlag(command, quoted)
    case 'commander.optionMissingArgument':
      return `${/--[\w-]+/.exec(quoted)?.[0]}: expected a value, found nothing`
    case 'commander.missingArgument':
      return `expected <${quoted}>, found nothing`
    case 'commander.excessArguments':
      return describeExcessArguments(command)
    default:
      return message.replace(/^error: /, '')
  }
}

function describeUnknownFlag(command: Command, flag: string): string {
  const ofServer = command.parent?.options.find(({ long, short }) => long === flag || short === flag)
  const replacement = removedFlags.get(flag)
  // Earlier releases of `check` and `explain` had all rules of the server as flags, but not `--verify`.
  const hadRules = ['check', 'explain'].includes(command.name()) && flag !== '--verify'
  if (ofServer !== undefined) {
    return replacement !== undefined && hadRules
      ? `option '${flag}' belongs to the server. For "${command.name()}", ${replacement}`
      : describeServerFlag(ofServer, command)
  }
  if (replacement !== undefined) return `option '${flag}' was removed: ${replacement}`
  if (['-s', '--single', '--spa'].includes(flag))
    return `unknown option '${flag}'. Remove it: the build says whether it is a single-page application`
  const nearest = findNearestName(
    flag.slice(2),
    command.options.flatMap(({ long }) => long?.slice(2) ?? []),
  )
  return `unknown option '${flag}'${nearest === undefined ? '' : `. Did you mean --${nearest}?`}`
}

/** Returns a problem for each missing one of several folders, and for a missing folder that may be the value of `--host`. */
export function findMissingFolders(program: Command): readonly string[] {
  const { args } = program
  const isHost = program.getOptionValue('host') === '*'
  const missing = args.length < 2 && !isHost ? [] : args.filter((word) => !existsSync(word))
  return missing.map((word) => {
    const { message } = buildNotFound(word)
    return isHost ? `${message} If ${word} is a host name, write --host=${word}` : message
  })
}

function describeExcessArguments(command: Command): string {
  const [wanted, ...found] = [command.usage().replace(/ ?\[options\] ?/, ''), ...command.args]
  return `expected ${wanted}, found ${found.map((word) => JSON.stringify(word)).join(' ')}`
}

/** Returns a problem for each server flag before another command. Commander accepts these flags, and they have no effect. */
export function findMisplacedServerFlags(program: Command, command: Command): string[] {
  return program.options
    .filter((option) => program.getOptionValueSource(option.attributeName()) === 'cli')
    .map((option) =>
      command.options.some(({ long }) => long === option.long)
        ? `option '${option.flags}' must come after "${command.name()}"`
        : describeServerFlag(option, command),
    )
}

function describeServerFlag({ flags }: Option, command: Command): string {
  return `option '${flags}' belongs to the server. Remove it: "${command.name()}" does not have it.`
}
