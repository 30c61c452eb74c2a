import cluster from 'node:cluster'
import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import type { ReportFormat } from '@serve-dist/report'
import { Command, Option } from 'commander'
import { addOperationsOptions } from './add-operations-options.ts'
import { addProcessOptions } from './add-process-options.ts'
import { addTlsOptions } from './add-tls-options.ts'
import { commandArgument } from './command-argument.ts'
import { compressCommand } from './compress-command.ts'
import { idleFlags } from './idle-flags.ts'
import { OperatorError } from '@serve-dist/manifest'
import { parseByteSize } from './parse-byte-size.ts'
import { parsePort } from './parse-port.ts'
import { addReloadOptions } from './add-reload-options.ts'
import { repeatable } from './repeatable.ts'
import { reportCommand } from './report-command.ts'
import { serveCommand, type ServeFlags } from './serve-command.ts'
import { serveDefaults } from '../serve/serve-options.ts'
import { takeInheritedSocket } from './take-inherited-socket.ts'

/** Variables of options whose empty value would be another one than none. */
const environmentTwins = [
  'PORT',
  'HOST',
  'GRACE',
  'WORKERS',
  'ACCESS_LOG',
  'OPS',
  'TRUST_PROXY',
  'TLS_CERT',
  'TLS_KEY',
  'ALLOW_HOST',
  'SOURCE_MAPS',
]

/**
 * Runs the command `serve-dist`. What an operator can mend is one message on standard error and exit
 * code 1; whatever else goes wrong keeps its stack trace.
 *
 * @param argv - as `process.argv`, the program's two names included.
 */
export async function runCommand(argv: readonly string[]): Promise<void> {
  // Whoever read what is printed may go away: that is no reason to end.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  // What a compose file fills in with nothing is as good as not set.
  for (const name of environmentTwins) if (process.env[name] === '') delete process.env[name]
  try {
    await createProgram().parseAsync(argv)
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    process.stderr.write(`serve-dist: ${error.code}: ${error.message}\n`)
    process.exitCode = 1
  }
}

/**
 * Ends a process that cannot serve, or not any more: timers and connections of an application that was loaded by then
 * would hold it, and what nobody catches does not end it either.
 */
function endServing(error: unknown): never {
  process.stderr.write(
    `${error instanceof OperatorError ? `serve-dist: ${error.code}: ${error.message}` : inspect(error)}\n`,
  )
  process.exit(1)
}

function createProgram(): Command {
  const version = readVersion()
  const program = new Command('serve-dist')
    .description('Serve a Vite build in production: precompressed, from memory.')
    .version(version)
    .argument('[dir]', 'folder that the build was written to', serveDefaults.directory)
    .addOption(
      new Option('--port <number>', 'port to listen on; 0 picks a free one')
        .env('PORT')
        .default(serveDefaults.port)
        .argParser(commandArgument(parsePort)),
    )
    .addOption(
      new Option('--host <address>', 'address to listen on')
        .env('HOST')
        .default(serveDefaults.host)
        .argParser(commandArgument(parseHost)),
    )
    .addOption(
      new Option('--verify <what>', "compare files' sizes with the manifest, or also their SHA-256")
        .choices(['size', 'hash'])
        .default('size'),
    )
    .addOption(
      new Option(
        '--prefer <what>',
        'among equally wanted codings: zstd, br, gzip in this order, or the smallest (default: order)',
      ).choices(['order', 'smallest']),
    )
    .addOption(
      new Option(
        '--fallback <what>',
        'what a page that the build does not have gets: index.html, 404.html or nothing (default: by appType)',
      ).choices(['spa', '404', 'none']),
    )
    .option(
      '--immutable <glob>',
      'files whose names carry a content hash that no manifest tells of; repeatable',
      repeatable,
    )
    .option('--fs-fallback', 'look up on the disk what the build does not have: files that appear after boot')
    .option(
      '--config <file>',
      'configuration (default: serve-dist.config.js, .mjs or .json, if there is one)',
    )
    .option('--ssr <module>', 'module that answers what the build does not have: pages, an API')
    .addOption(
      new Option('--memory-budget <size>', 'bodies to hold in memory, smallest first')
        .default(64 * 1024 * 1024, '64m')
        .argParser(commandArgument(parseByteSize)),
    )
    .addOption(
      new Option('--largest-body <size>', 'largest body to hold in memory')
        .default(Number.POSITIVE_INFINITY, 'no limit but the budget')
        .argParser(commandArgument(parseByteSize)),
    )
  addProcessOptions(program)
  addReloadOptions(program)
  program
    .showHelpAfterError('(serve-dist --help shows what there is)')
    .action(async (directory: string, flags: ServeFlags) => {
      const given = { ...flags, descriptor: takeInheritedSocket() }
      // The primary has told of it for its workers.
      if (cluster.isPrimary) warnOfIdleFlags(program, given)
      await serveCommand(directory, given, version).catch(endServing)
    })
    .hook('preAction', (_program, command) => {
      if (command === program) return
      // Only a server has something to do then (`bin/serve-dist.js`); the others end, as by default.
      process.removeAllListeners('SIGHUP')
      refuseServerFlags(program, command)
    })
  addTlsOptions(program)
  addOperationsOptions(program)
  program
    .command('compress')
    .description(
      'Compress a folder that no Vite made, or again one that changed after its build, and write its manifest.',
    )
    .argument('[dir]', 'folder to compress', serveDefaults.directory)
    .option('--base <path>', 'path under which the folder will be served (default: as before, else /)')
    .addOption(
      new Option(
        '--app-type <type>',
        'how unknown paths will be answered (default: as before, else by the pages there are)',
      ).choices(['spa', 'mpa', 'custom']),
    )
    .option('--exclude <glob>', 'files to leave out: neither compressed nor served; repeatable', repeatable)
    .option('--minimum-size <size>', 'smallest file to compress', commandArgument(parseByteSize), 256)
    .option(
      '--cache-size <size>',
      'most to keep of results for the next time, if there is a package.json above the folder (default: 512m)',
      commandArgument(parseByteSize),
    )
    .action(compressCommand)
  addReportCommand(program)
  return program
}

/** Options of the server are known to commander wherever they stand; another command would do nothing with them. */
function refuseServerFlags(program: Command, command: Command): void {
  const given = program.options.find(
    (option) => program.getOptionValueSource(option.attributeName()) === 'cli',
  )
  if (given === undefined) return
  command.error(`error: option '${given.flags}' is for serving, and nothing to "${command.name()}"`)
}

function warnOfIdleFlags(program: Command, flags: ServeFlags): void {
  for (const idle of idleFlags(flags, (name) => program.getOptionValueSource(name) === 'cli')) {
    process.stderr.write(`serve-dist: warning: ${idle}\n`)
  }
}

function addReportCommand(program: Command): void {
  program
    .command('report')
    .description('Show what a build weighs in every coding, or what changed since another one.')
    .argument(
      '[dir]',
      'folder that the build was written to, or a copy of its manifest',
      serveDefaults.directory,
    )
    .option('--title <text>', 'what to call the build where there are several', 'Build size')
    .option('--against <build>', 'earlier build to compare with: its folder, or a copy of its manifest')
    .addOption(
      new Option('--format <format>', 'what to write')
        .choices(['terminal', 'markdown', 'json', 'html'] satisfies readonly ReportFormat[])
        .default('terminal'),
    )
    .option('--output <file>', 'file to write to (default: standard output)')
    .option(
      '--budget <budget>',
      "most that files may weigh, such as 'assets/*.js=150kb:br' or total=500kb; repeatable",
      (budget: string, earlier: readonly string[]) => [...earlier, budget],
      [],
    )
    .option('--noise <threshold>', 'changes to call noise: below both of these', '0.1%,64b')
    .action(reportCommand)
}

function parseHost(text: string): string {
  if (text === '') throw new TypeError('expected an address such as 127.0.0.1 or 0.0.0.0')
  return text
}

function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { version }: { version: string } = JSON.parse(text)
  return version
}
