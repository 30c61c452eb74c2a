import cluster from 'node:cluster'
import { existsSync, readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { nearestName, OperatorError } from '@serve-dist/manifest'
import type { ReportCommandOptions } from '@serve-dist/report'
import { Command, type CommanderError, Option } from 'commander'
import {
  type CheckFlags,
  checkFlags,
  type CompressFlags,
  compressFlags,
  defaultOf,
  type ExplainFlags,
  explainFlags,
  type Flag,
  flagName,
  flagTerm,
  missingFlags,
  reportFlags,
  type ServeFlags,
  serveFlags,
  unusedFlags,
  valueOf,
} from './flags.ts'
import { loadOptional } from '../load-optional.ts'
import { serveCommand } from './serve-command.ts'
import { serveDefaults } from '../serve/serve-options.ts'
import { takeInheritedSocket } from './take-inherited-socket.ts'

/**
 * Runs the command `serve-dist`. What an operator can mend is one message on standard error and exit code 1; any other
 * error keeps its stack trace.
 *
 * @param argv - as `process.argv`, the program's two names included.
 */
export async function runCommand(argv: readonly string[]): Promise<void> {
  // A reader of our output may go away, which is no reason to end.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  // A compose file sets a variable that it has no value for to nothing.
  for (const { environment } of Object.values<Flag>(serveFlags)) {
    if (environment !== undefined && process.env[environment] === '') delete process.env[environment]
  }
  const words = withHelp(argv.flatMap((word) => (word === '--help=all' ? ['--help', 'all'] : word)))
  const asksForHelp = words.includes('--help') || words.includes('-h')
  try {
    const program = createProgram(words.includes('all') || !asksForHelp)
    refuseMisspelt(program, words)
    await program.parseAsync(words)
  } catch (error) {
    if (error instanceof HelpShown) return
    if (!(error instanceof OperatorError)) throw error
    process.stderr.write(`${describe(error)}\n`)
    process.exitCode = 1
  }
}

/** `help` and `help compress`, as many programs have it; a folder of that name is `./help`. */
function withHelp(words: readonly string[]): readonly string[] {
  return words[2] === 'help' ? [...words.slice(0, 2), ...words.slice(3, 4), '--help'] : words
}

/**
 * A command that does not exist would be taken for a folder that does not.
 *
 * @throws OperatorError that names the command that was meant.
 */
function refuseMisspelt({ commands }: Command, [, , word = '']: readonly string[]): void {
  const { name, changes } = nearestName(
    word,
    commands.map((command) => command.name()),
  )
  if (word.startsWith('-') || changes === 0 || changes > name.length / 3 || existsSync(word)) return
  throw new OperatorError(
    'SD_OPTION_INVALID',
    `there is neither a command nor a folder "${word}"; did you mean serve-dist ${name}?`,
  )
}

/** Ends the parsing after the help or the version was written. */
class HelpShown extends Error {
  override readonly name = 'HelpShown'
}

/** @param showsAll - whether the help lists all flags of the server; so do suggestions for a misspelt one. */
function createProgram(showsAll: boolean): Command {
  const version = readVersion()
  const problems: string[] = []
  const program = new Command('serve-dist')
    .usage('[dir] [options]')
    .description('Serve a Vite build from memory, precompressed. The default folder is dist.')
    .helpOption('-h, --help [all]', 'show this page, or every option')
    .helpCommand(false)
    // `--immutable` is a flag of the server and one of `compress`: behind the command's name it is the latter.
    .enablePositionalOptions()
    .argument('[dir]', '', serveDefaults.directory)
    .configureHelp({
      optionDescription: ({ description }) => description,
      // The longest flags of `report` leave 40 columns.
      minWidthToWrap: 30,
      subcommandTerm: (command) => `${command.name()} ${command.usage().replace('[options] ', '')}`,
    })
    .configureOutput({
      // Without blank lines: the page fits a terminal of 24 lines.
      writeOut: (text) => process.stdout.write(showsAll ? text : text.replaceAll('\n\n', '\n')),
      outputError: () => {},
    })
    .showSuggestionAfterError(false)
    .action(async (directory: string, flags: ServeFlags) => {
      const given = { ...flags, descriptor: takeInheritedSocket() }
      const missing = missingFlags(given)
      if (missing.length > 0) throw new OperatorError('SD_OPTION_INVALID', missing)
      // The primary warns for its workers.
      const unused = cluster.isPrimary
        ? unusedFlags(given, (name) => program.getOptionValueSource(name) === 'cli')
        : []
      for (const warning of unused) process.stderr.write(`serve-dist: warning: ${warning}\n`)
      await serveCommand(directory, given, version).catch(endServing)
    })
    .hook('preAction', (_program, command) => {
      const [directory] = command.processedArgs
      if (directory === '') problems.push('the folder is an empty text; name the folder that the build wrote')
      if (command !== program) problems.push(...serverFlagsBefore(program, command))
      refuse(command, problems)
      if (command === program) return
      // `bin/serve-dist.js` ignores the signal for the server; it ends other commands, as by default.
      process.removeAllListeners('SIGHUP')
    })
  addFlags(program, serveFlags, { showsAll, problems })
  program.version(version, '-V, --version', 'show the version')
  const compress = program
    .command('compress')
    .summary('compress a finished folder, whatever wrote it')
    .helpOption('-h, --help', 'show this page')
    .description('Compress a finished folder, whatever wrote it, and describe it in a manifest.')
    .argument('[dir]', 'folder to compress', serveDefaults.directory)
    .action(async (directory: string, flags: CompressFlags) => {
      const { compressCommand } = await import('./compress-command.ts')
      await compressCommand(directory, flags)
    })
  addFlags(compress, compressFlags, { showsAll: true, problems })
  const report = program
    .command('report')
    .summary('show what a build weighs, or what changed')
    .helpOption('-h, --help', 'show this page')
    .description('Show what a build weighs in every coding, or what changed since another one.')
    .argument('[dir]', 'folder of the build, or a copy of its manifest', serveDefaults.directory)
    .action(async (directory: string, flags: ReportCommandOptions) => {
      const needed = { name: '@serve-dist/report', neededBy: 'serve-dist report' }
      const { reportCommand } = await loadOptional(needed, async () => await import('@serve-dist/report'))
      // 1 where the build fails a budget.
      process.exitCode = await reportCommand(directory, flags)
    })
  addFlags(report, reportFlags, { showsAll: true, problems })
  const check = program
    .command('check')
    .summary('look for faults of a folder, or of a site')
    .helpOption('-h, --help', 'show this page')
    .description('Look for faults in a build, or at the address of a site that serves it.')
    .argument(
      '[target]',
      'folder of the build, or an address such as https://example.org',
      serveDefaults.directory,
    )
    .action(async (target: string, flags: CheckFlags) => {
      const { checkCommand } = await import('./check-command.ts')
      process.exitCode = await checkCommand(target, flags)
    })
  addFlags(check, checkFlags, { showsAll: true, problems })
  const explainer = program
    .command('explain')
    .summary('show how a request gets its answer')
    .helpOption('-h, --help', 'show this page')
    .description('Show the answer to a request, and the steps that lead to it.')
    .argument('<path>', 'path that is asked for, such as /about, or its whole address')
    .argument('[dir]', 'folder of the build', serveDefaults.directory)
    .action(async (path: string, directory: string, flags: ExplainFlags) => {
      const { explainCommand } = await import('./explain-command.ts')
      await explainCommand(path, directory, flags)
    })
  addFlags(explainer, explainFlags, { showsAll: true, problems })
  for (const command of [program, compress, report, check, explainer]) {
    command.exitOverride((error) => {
      if (error.exitCode === 0) throw new HelpShown()
      return refuse(command, [...problems, explain(command, error)])
    })
  }
  return program
}

/** Ends the command where something is wrong with its words. */
function refuse(command: Command, problems: readonly string[]): void {
  if (problems.length === 0) return
  const name = command.parent === null ? command.name() : `${command.parent.name()} ${command.name()}`
  const usage = `run ${name} --help for usage`
  throw problems.length === 1
    ? new OperatorError('SD_OPTION_INVALID', `${problems[0]}\n${usage}`)
    : new OperatorError('SD_OPTION_INVALID', problems, { heading: `${problems.length} problems; ${usage}:` })
}

/** Commander's message without its prefix; for a flag that does not exist, with the nearest of this command. */
function explain(command: Command, { code, message }: CommanderError): string {
  const text = message.replace(/^error: /, '')
  const unknown = code === 'commander.unknownOption' ? /'(--[^'=]+)/.exec(text)?.[1] : undefined
  if (unknown === undefined) return text
  const ofServer = command.parent?.options.find(({ long }) => long === unknown)
  if (ofServer !== undefined) return describeServerFlag(ofServer, command)
  const { name, changes } = nearestName(
    unknown,
    command.options.flatMap(({ long }) => long ?? []),
  )
  return changes <= name.length / 3 ? `${text}; did you mean ${name}?` : text
}

interface ShownFlags {
  readonly showsAll: boolean
  /** Receives what is wrong with values. */
  readonly problems: string[]
}

function addFlags(command: Command, table: object, { showsAll, problems }: ShownFlags): void {
  for (const [name, flag] of Object.entries<Flag>({ ...table })) {
    const { help, group, isCommon, environment, isRepeatable } = flag
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
    // A flag of its own, not the opposite of another.
    option.negate = false
    if (flag.default !== undefined) option.default(flag.default)
    if (environment !== undefined) option.env(environment)
    if (valueOf(flag) !== '') {
      option.argParser((text: string, earlier: unknown) => {
        // Commander reads variables after it has read the command line, so a given flag wins.
        const isFlag = process.argv.some(
          (word) => word === flagName(name) || word.startsWith(`${flagName(name)}=`),
        )
        const found = readValue(flag, text)
        if ('problem' in found)
          problems.push(
            `${isFlag || environment === undefined ? flagName(name) : environment}: ${found.problem}`,
          )
        const value = 'value' in found ? found.value : undefined
        return isRepeatable === true ? [earlier ?? [], value].flat() : value
      })
    }
    command.addOption(option)
  }
}

/** A flag's value of its text, or what is wrong with the text. */
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

/** Commander accepts the server's flags in front of another command, which would ignore them. */
function serverFlagsBefore(program: Command, command: Command): string[] {
  return program.options
    .filter((option) => program.getOptionValueSource(option.attributeName()) === 'cli')
    .map((option) => describeServerFlag(option, command))
}

function describeServerFlag({ flags }: Option, command: Command): string {
  return `option '${flags}' is for serving; "${command.name()}" does not take it`
}

/**
 * Ends a process that cannot serve, or cannot any longer: an application that was loaded by then may hold timers and
 * connections open, and may catch what nobody else does.
 */
function endServing(error: unknown): never {
  process.stderr.write(`${error instanceof OperatorError ? describe(error) : inspect(error)}\n`)
  process.exit(1)
}

function describe(error: OperatorError): string {
  return `serve-dist: ${error.code}: ${error.message}`
}

function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { version }: { version: string } = JSON.parse(text)
  return version
}
