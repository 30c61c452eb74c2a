import cluster from 'node:cluster'
import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { OperatorError } from '@serve-dist/manifest'
import { Command } from 'commander'
import { addFlags } from './add-flags.ts'
import { addStoreCommands } from './add-store-commands.ts'
import {
  type CheckFlags,
  checkFlags,
  type CompressFlags,
  compressFlags,
  type ExplainFlags,
  explainFlags,
  type Flag,
  missingFlags,
  reportFlags,
  type ServeFlags,
  serveFlags,
  unusedFlags,
} from './flags.ts'
import { environmentRemedies } from './environment-remedies.ts'
import type { ReportFlags } from './report-command.ts'
import { normalizeArguments } from './normalize-arguments.ts'
import {
  describeCommanderError,
  throwUsageError,
  refuseUnknownCommand,
  findMisplacedServerFlags,
  findMissingFolders,
} from './usage-errors.ts'
import { findRemovedValues, findRemovedVariables } from './removed-options.ts'
import { serveCommand } from './serve-command.ts'
import { type CarryFlags, carryFlags, publishFlags } from './store-flags.ts'
import { commandNames, type Subcommand } from './subcommand.ts'
import { defaultDirectory } from '../serve/serve-options.ts'
import { takeInheritedSocket } from './take-inherited-socket.ts'

/**
 * Runs the command `serve-dist`. For an operator's error, it prints a message to standard error and sets exit code 1. It
 * throws all other errors.
 *
 * @param argv - `process.argv`, with the two names of the program.
 */
export async function runCommand(argv: readonly string[]): Promise<void> {
  // Continue if the reader of a pipe exits.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  // Compose files set a variable without a value to an empty text.
  for (const { environment } of Object.values<Flag>({ ...serveFlags, ...publishFlags })) {
    if (environment !== undefined && process.env[environment] === '') delete process.env[environment]
  }
  const words = normalizeArguments(argv.slice(2), commandNames)
  try {
    const program = createProgram(words)
    refuseUnknownCommand(program, words)
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    if (error instanceof HelpShown) return
    if (!(error instanceof OperatorError)) throw error
    process.stderr.write(`${describe(error)}\n`)
    process.exitCode = 1
  }
}

/** Stops the parser after it has written the help or the version. */
class HelpShown extends Error {
  override readonly name = 'HelpShown'
}

function createProgram(words: readonly string[]): Command {
  const asksForHelp = words.includes('--help') || words.includes('-h')
  const showsAll = words.includes('all') || !asksForHelp
  const version = readVersion()
  const problems = findRemovedValues(words)
  const program = new Command('serve-dist')
    .usage('[dir...] [options]')
    .description('Serve a precompressed Vite build from memory. The default folder is dist.')
    .helpOption('-h, --help [all]', 'show this help, or all options')
    .helpCommand(false)
    // After the name of `check` or `explain`, `-H` is their flag, not the server's.
    .enablePositionalOptions()
    .argument('[dir...]', '', [defaultDirectory])
    .configureHelp({
      optionDescription: ({ description }) => description,
      // The longest flags of `report` leave 40 columns for the description.
      minWidthToWrap: 30,
      subcommandTerm: (command) =>
        `${command.name()} ${command.usage().replace(/\[options\] ?/, '')}`.trimEnd(),
    })
    .configureOutput({
      // Without blank lines, the page fits a terminal of 24 lines.
      writeOut: (text) => process.stdout.write(showsAll ? text : text.replaceAll('\n\n', '\n')),
      outputError: () => {},
    })
    .showSuggestionAfterError(false)
    .action(async (directories: readonly string[], flags: ServeFlags) => {
      const given = { ...flags, descriptor: takeInheritedSocket() }
      const missing = missingFlags(given)
      if (given.store !== undefined && program.args.length > 0) {
        const which = directories.length === 1 ? 'folder' : 'folders'
        missing.push(
          `the ${which} ${directories.join(', ')} cannot be combined with --store. Remove one of them.`,
        )
      }
      if (missing.length > 0) throw new OperatorError('SD_OPTION_INVALID', missing)
      throwUsageError(program, findMissingFolders(program))
      // The primary warns for its workers.
      const unused = cluster.isPrimary
        ? unusedFlags(given, (name) => program.getOptionValueSource(name) === 'cli')
        : []
      for (const warning of unused) process.stderr.write(`serve-dist: warning: ${warning}\n`)
      await serveCommand(directories, given, version).catch(endServing)
    })
    .hook('preAction', (_program, command) => {
      const [directory] = command.processedArgs.flat()
      // An empty variable in a script must not select the default folder or the previous build.
      if (directory === '') {
        problems.push(describeEmpty(command.registeredArguments[0]?.name()))
      }
      if (command !== program) problems.push(...findMisplacedServerFlags(program, command))
      if ([program.name(), 'check', 'explain'].includes(command.name())) {
        problems.push(...findRemovedVariables(process.env))
      }
      throwUsageError(command, problems)
      if (command === program) return
      // `bin/serve-dist.js` ignores SIGHUP for the server. The signal must end all other commands.
      process.removeAllListeners('SIGHUP')
    })
  addFlags(program, serveFlags, { showsAll, words, problems })
  program.version(version, '-v, --version', 'show the version')

  const add = ({ name, summary, description, flags, isRare }: Subcommand): Command => {
    const hidden = isRare === true && !showsAll
    const command = program.command(name, { hidden }).summary(summary).description(description)
    addFlags(command, flags, { showsAll: true, words, problems })
    return command.helpOption('-h, --help', 'show this help')
  }
  add({
    name: 'compress',
    summary: 'compress a folder that is already built',
    description: 'Compress a folder that is already built, and write its manifest.',
    flags: compressFlags,
  })
    .argument('[dir]', 'folder to compress', defaultDirectory)
    .action(async (directory: string, flags: CompressFlags) => {
      const { compressCommand } = await import('./compress-command.ts')
      await compressCommand(directory, flags)
    })
  add({
    name: 'report',
    summary: 'show the size of a build, or what changed',
    description: 'Show the size of a build in every coding, or the changes since another build.',
    flags: reportFlags,
  })
    .argument('[dir]', 'folder of the build or a copy of its manifest', defaultDirectory)
    .action(async (directory: string, flags: ReportFlags, { args }: Command) => {
      const { reportCommand } = await import('./report-command.ts')
      await reportCommand(directory, { ...flags, isGiven: args.length > 0 })
    })
  add({
    name: 'check',
    summary: 'find problems in a build or on a site',
    description: 'Find problems in a build or on the site that serves it.',
    flags: checkFlags,
  })
    .argument('[target]', 'folder of the build, or a URL such as https://example.org', defaultDirectory)
    .action(async (target: string, flags: CheckFlags) => {
      const { checkCommand } = await import('./check-command.ts')
      process.exitCode = await checkCommand(target, flags)
    })
  add({
    name: 'explain',
    summary: 'explain the answer to a request',
    description: 'Show the answer to a request and the steps that lead to it.',
    flags: explainFlags,
  })
    .argument('<path>', 'path, such as /about, or a URL')
    .argument('[dir]', 'folder of the build', defaultDirectory)
    .action(async (path: string, directory: string, flags: ExplainFlags) => {
      const { explainCommand } = await import('./explain-command.ts')
      await explainCommand(path, directory, flags)
    })
  add({
    name: 'carry',
    summary: 'keep the files of the running site in a new build',
    description:
      'Add the hashed files of the running site to a new build, so that open tabs continue to work.',
    flags: carryFlags,
  })
    .argument('<url>', 'address of the site, such as https://example.org')
    .argument('[dir]', 'folder of the new build', defaultDirectory)
    .action(async (url: string, directory: string, flags: CarryFlags) => {
      const { carryCommand } = await import('./carry-command.ts')
      await carryCommand(url, directory, flags)
    })
  addStoreCommands(add)
  for (const command of [program, ...program.commands]) {
    command.exitOverride((error) => {
      if (error.exitCode === 0) throw new HelpShown()
      return throwUsageError(command, [...problems, describeCommanderError(command, error)])
    })
  }
  return program
}

function describeEmpty(argument: string | undefined): string {
  switch (argument) {
    case 'id':
      return 'the build id is empty. Run serve-dist generations to list the ids.'
    case 'url':
      return 'the address of the site is empty. Pass an address such as https://example.org.'
    default:
      return 'the path of the folder is empty. Name the folder of the build.'
  }
}

/**
 * Ends a process that cannot serve or has stopped serving. `process.exit` is necessary, because an application may keep
 * timers and connections open, and may handle uncaught errors.
 */
function endServing(error: unknown): never {
  const isOfOperator = error instanceof OperatorError
  const lines = isOfOperator ? [describe(error), ...remediesOf(error)] : [inspect(error)]
  process.stderr.write(`${lines.join('\n')}\n`)
  process.exit(1)
}

function remediesOf({ code, message }: OperatorError): readonly string[] {
  return code === 'SD_ENVIRONMENT_INVALID' ? environmentRemedies(message) : []
}

function describe(error: OperatorError): string {
  return `serve-dist: ${error.code}: ${error.message}`
}

function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { version }: { version: string } = JSON.parse(text)
  return version
}
