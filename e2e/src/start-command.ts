import {
  type ProgramEnd,
  type RunningProgram,
  runProgram,
  startProgram,
} from '../../scripts/start-program.mjs'

export interface StartCommandOptions {
  /** Arguments after the command, such as `['dist', '--port', '0']`. */
  readonly args: readonly string[]
  readonly cwd: string
  /** Variables besides those of the test runner. */
  readonly environment?: Readonly<Record<string, string>>
}

export type CommandEnd = ProgramEnd
export type RunningCommand = RunningProgram

/** Starts a command in a process, and waits until it prints its URL. */
export function startCommand(
  command: readonly [string, ...string[]],
  { args, cwd, environment }: StartCommandOptions,
): Promise<RunningCommand> {
  return startProgram([...command, ...args], { cwd, environment: { ...neutral, ...environment } })
}

/** Runs a command until it exits. */
export function runToEnd(
  command: readonly [string, ...string[]],
  { args, cwd, environment }: StartCommandOptions,
): Promise<CommandEnd> {
  return runProgram([...command, ...args], { cwd, environment: { ...neutral, ...environment } })
}

/** The test runner's NODE_ENV would cause development builds. */
const neutral = { NODE_ENV: undefined, NO_COLOR: '1', FORCE_COLOR: '0', PORT: undefined, HOST: undefined }
