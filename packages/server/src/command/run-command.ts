import cluster from 'node:cluster'
import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { OperatorError } from '@serve-dist/manifest'
import type { ReportCommandOptions } from '@serve-dist/report'
import { Command, InvalidArgumentError, Option } from 'commander'
import {
  type CompressFlags,
  compressFlags,
  defaultOf,
  type Flag,
  flagName,
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
  const asksForHelp = argv.includes('--help') || argv.includes('-h')
  try {
    await createProgram(argv.includes('all') || !asksForHelp).parseAsync(argv)
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    process.stderr.write(`${describe(error)}\n`)
    process.exitCode = 1
  }
}

/** @param showsAll - whether the help lists all flags of the server; so do suggestions for a misspelt one. */
function createProgram(showsAll: boolean): Command {
  const version = readVersion()
  const program = new Command('serve-dist')
    .usage('[dir] [options]')
    .description('Serve a Vite build from memory, precompressed. The default folder is dist.')
    .helpOption('-h, --help [all]', 'show this page, or every option')
    .helpCommand(false)
    .argument('[dir]', '', serveDefaults.directory)
    .configureHelp({
      optionDescription: ({ description }) => description,
      subcommandTerm: (command) => `${command.name()} [dir]`,
    })
    .showHelpAfterError('Run serve-dist --help for usage.')
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
      if (command === program) return
      // `bin/serve-dist.js` ignores the signal for the server; it ends other commands, as by default.
      process.removeAllListeners('SIGHUP')
      refuseServerFlags(program, command)
    })
  addFlags(program, serveFlags, showsAll)
  program.version(version, '-V, --version', 'show the version')
  const compress = program
    .command('compress')
    .summary('compress a folder that Vite did not build')
    .helpOption('-h, --help', 'show this page')
    .description('Compress a folder that Vite did not build, or that changed since, and write its manifest.')
    .argument('[dir]', 'folder to compress', serveDefaults.directory)
    .action(async (directory: string, flags: CompressFlags) => {
      const { compressCommand } = await import('./compress-command.ts')
      await compressCommand(directory, flags)
    })
  addFlags(compress, compressFlags, true)
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
  addFlags(report, reportFlags, true)
  return program
}

function addFlags(command: Command, table: object, showsAll: boolean): void {
  for (const [name, flag] of Object.entries<Flag>({ ...table })) {
    const { help, group, isCommon, environment, choices, isRepeatable, read } = flag
    const value = flag.default
    const notes = [
      ...(isRepeatable === true ? ['repeatable'] : []),
      ...(defaultOf(flag) === undefined ? [] : [`default: ${defaultOf(flag)}`]),
      ...(environment === undefined || !showsAll ? [] : [`env: ${environment}`]),
    ]
    const option = new Option(
      `${flagName(name)} ${valueOf(flag)}`.trim(),
      notes.length === 0 ? help : `${help} (${notes.join(', ')})`,
    )
      .helpGroup(`${group}:`)
      .hideHelp(!showsAll && isCommon !== true)
    if (value !== undefined) option.default(value)
    if (environment !== undefined) option.env(environment)
    if (choices !== undefined) option.choices(choices)
    else if (isRepeatable === true) option.argParser(collect(read ?? ((text) => [text])))
    else if (read !== undefined) option.argParser(explained(read))
    command.addOption(option)
  }
}

/** A reader as commander wants it, which names the flag in front of what was expected. */
function explained<Value>(read: (text: string) => Value): (text: string) => Value {
  return (text) => {
    try {
      return read(text)
    } catch (error) {
      throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
    }
  }
}

function collect(read: (text: string) => unknown): (text: string, earlier: unknown) => unknown[] {
  return (text, earlier = []) => [earlier, explained(read)(text)].flat()
}

/** Commander accepts the server's flags in front of another command, which would ignore them. */
function refuseServerFlags(program: Command, command: Command): void {
  const given = program.options.find(
    (option) => program.getOptionValueSource(option.attributeName()) === 'cli',
  )
  if (given === undefined) return
  command.error(`error: option '${given.flags}' is for serving; "${command.name()}" does not take it`)
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
