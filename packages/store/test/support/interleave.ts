import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Random } from '../../../server/test/support/soak/soak-random.ts'
import { newerNode } from './newer-node.ts'

/** A command for a process. */
export interface StoreCommand {
  readonly run: 'publish' | 'prune' | 'purge' | 'rollback'
  readonly where: string
  /** The folder of a publish, the retention of a prune or the id of a purge. */
  readonly what?: unknown
  readonly options?: unknown
}

/** Two processes that take turns, one step at a time, in a seeded order. */
export interface Interleaving {
  /** Returns the outcome of each command: `'well'` or the error code. */
  run(commands: readonly [StoreCommand, StoreCommand], random: Random): Promise<readonly [string, string]>
  stop(): void
}

interface Actor {
  readonly child: ChildProcess
  /** The numbers of the steps that the process asked for. */
  readonly asked: number[]
  end: string | undefined
}

type Message = { readonly step: number } | { readonly done: string; readonly message?: string }

const node = newerNode('node24') ?? process.execPath
/** The time in milliseconds after which an idle process counts as waiting for the other one. */
const patience = 20

/** Starts two processes with this environment. */
export function startInterleaving(environment: Readonly<Record<string, string>>): Interleaving {
  let wake: (() => void) | undefined
  const actors = [0, 1].map((): Actor => {
    const program = fileURLToPath(new URL('run-store-in-steps.mjs', import.meta.url))
    const child = fork(program, { env: { ...process.env, ...environment }, execArgv: [], execPath: node })
    const actor: Actor = { child, asked: [], end: undefined }
    child.on('message', (message: Message) => {
      if ('done' in message) actor.end = message.done
      else actor.asked.push(message.step)
      wake?.()
    })
    return actor
  })
  const [first, second] = actors
  if (first === undefined || second === undefined) throw new Error('there are two')

  const changed = async (milliseconds: number): Promise<void> => {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
  /** Waits until the process asks for a step, ends or seems to wait. */
  const settle = async (actor: Actor): Promise<boolean> => {
    const deadline = performance.now() + patience
    while (actor.end === undefined && actor.asked.length === 0) {
      const left = deadline - performance.now()
      if (left <= 0) return false
      await changed(left)
    }
    return actor.end === undefined
  }

  return {
    async run(commands, random) {
      for (const [index, actor] of actors.entries()) {
        actor.end = undefined
        actor.asked.length = 0
        actor.child.send(commands[index] ?? commands[0])
      }
      let turn = random.pick([first, second])
      let steps = random.integer(60)
      while (first.end === undefined || second.end === undefined) {
        const isReady = await settle(turn)
        const step = isReady ? turn.asked.splice(random.integer(turn.asked.length), 1)[0] : undefined
        if (step !== undefined) turn.child.send({ go: step })
        steps -= 1
        if (step !== undefined && steps > 0) continue
        turn = turn === first ? second : first
        steps = random.integer(60)
      }
      return [first.end, second.end]
    },
    stop() {
      for (const { child } of actors) child.kill('SIGKILL')
    },
  }
}
