import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { PreparedWorkload } from '../load/workload.ts'
import type { FoundServer } from '../peers/server-definition.ts'
import { tlsFiles } from '../tls-files.ts'
import { requestFor, VoidRow } from './check-server.ts'
import { exchange } from './exchange.ts'
import { findFreePort } from './find-free-port.ts'
import { readCpuSeconds, readHeldBytes } from './resource-usage.ts'

/** A running server. */
export interface StartedServer {
  readonly port: number
  /** From the start of the process to its first whole answer. */
  readonly bootMilliseconds: number
  /** Reads the CPU time of the server and its children. */
  cpuSeconds(): Promise<number>
  /** Reads the memory of the server and its children without the page cache. */
  heldBytes(): Promise<number>
  stop(): Promise<void>
}

/** The placement of a server. */
export interface StartOptions {
  /** A list for `taskset -c`. */
  readonly cores: string
  readonly workers: number
}

const bootDeadline = 30_000

/** Servers that must stop when this program stops. */
const running = new Set<number>()
// A signal without a handler would end this program without its exit handlers.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
process.on('exit', () => {
  for (const pid of running) signalGroup(pid, 'SIGKILL')
})

/**
 * Starts a server on its cores and waits for its first answer.
 *
 * @throws VoidRow with the end of its output and of its `error.log`, if it ends or does not answer.
 */
export async function startServer(
  server: FoundServer,
  workload: PreparedWorkload,
  { cores, workers }: StartOptions,
): Promise<StartedServer> {
  const port = await findFreePort()
  const scratch = await mkdtemp(join(tmpdir(), 'serve-dist-bench-'))
  const { directory, requests } = workload
  const accept = requests[0]?.accept ?? []
  const tls = workload.tls === undefined ? undefined : await tlsFiles()
  const launch = await server
    .launch({ directory, port, workers, scratch, tls, accept, requests })
    .catch((error: unknown) => {
      throw new VoidRow(`cannot be started: ${endOf(String(error))}`, { cause: error })
    })
  const startedAt = performance.now()
  const child = spawn('taskset', ['-c', cores, launch.command, ...launch.arguments], {
    cwd: launch.directory ?? scratch,
    env: { ...process.env, NODE_ENV: 'production', ...launch.environment },
    // In a process group of its own, so that a signal also reaches its children.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = collectOutput(child)
  if (child.pid !== undefined) running.add(child.pid)
  const stop = async (): Promise<void> => {
    await stopGroup(child)
    await rm(scratch, { recursive: true, force: true })
  }
  try {
    await firstAnswer(child, port, workload)
  } catch (error) {
    const log = await readFile(join(scratch, 'error.log'), 'utf8').catch(() => '')
    // The output of a server that ended has the reason. For a running one, add the client's error.
    const seen = child.exitCode === null ? `does not answer (${endOf(String(error))})` : 'cannot be started'
    await stop()
    throw new VoidRow(`${seen}: ${endOf(output() + log)}`, { cause: error })
  }
  const bootMilliseconds = performance.now() - startedAt
  const { pid } = child
  if (pid === undefined) throw new TypeError('a process without an id')
  const cpuSeconds = async (): Promise<number> => {
    try {
      return await readCpuSeconds(pid)
    } catch (error) {
      throw new VoidRow(`the server ended: ${endOf(output())}`, { cause: error })
    }
  }
  return { port, bootMilliseconds, cpuSeconds, heldBytes: () => readHeldBytes(pid), stop }
}

/** Returns the end of a text, short enough for an error message. */
function endOf(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(-400)
}

async function firstAnswer(child: ChildProcess, port: number, workload: PreparedWorkload): Promise<void> {
  const [first] = workload.requests
  if (first === undefined) throw new TypeError('a workload without requests')
  const request = requestFor(port, { ...first, method: 'GET' }, workload)
  const deadline = performance.now() + bootDeadline
  for (;;) {
    try {
      await exchange(port, request)
      return
    } catch (error) {
      if (child.exitCode !== null || performance.now() > deadline) throw error
    }
    await delay(2)
  }
}

function collectOutput(child: ChildProcess): () => string {
  let text = ''
  const add = (part: Buffer): void => {
    text = (text + part.toString()).slice(-4000)
  }
  child.stdout?.on('data', add)
  child.stderr?.on('data', add)
  child.on('error', (error) => {
    text += error.message
  })
  return () => text
}

async function stopGroup(child: ChildProcess): Promise<void> {
  const { pid } = child
  if (pid === undefined) return
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit')
    signalGroup(pid, 'SIGTERM')
    const patience = setTimeout(() => signalGroup(pid, 'SIGKILL'), 3000)
    await ended
    clearTimeout(patience)
  }
  // Its children may still run.
  signalGroup(pid, 'SIGKILL')
  running.delete(pid)
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    const isGone = error instanceof Error && 'code' in error && error.code === 'ESRCH'
    if (!isGone) throw error
  }
}
