import { OperatorError } from '@serve-dist/manifest'
import cluster, { type Worker } from 'node:cluster'
import { EventEmitter, once } from 'node:events'
import { describeReload } from '../../live/describe-reload.ts'
import { changedFiles } from '../../files/changed-files.ts'
import { coalesceRuns } from '../../files/coalesce-runs.ts'
import type { ReloadOutcome } from '../../live/reload-outcome.ts'
import { maximumTimeout } from '../../protocol/connection-limits.ts'
import { problemLines } from '../../live/problem-lines.ts'
import type { SharedMirror } from '../../mirror/share-mirror.ts'
import { answerStoreRequest } from './answer-store-request.ts'
import { reloadWorkers } from './reload-workers.ts'
import { countFailures, crashLoopLength, restartDelay } from './restart-policy.ts'
import { removedBasicAuth } from '../../rules/basic-auth.ts'
import { type ServedBuild, servedId, type SiteCounts, type SiteSummary } from '../../site/site.ts'
import {
  isWorkerMessage,
  sendToWorker,
  type WorkerLoaded,
  type WorkerReady,
  type WorkerSlot,
} from './worker-messages.ts'
import { toEnvironment, type WorkerRole } from './worker-role.ts'

/** Options of `startWorkers`. */
export interface WorkersOptions {
  readonly count: number
  /** Milliseconds that running answers may take after `close()`. */
  readonly gracePeriod: number
  /** The umask for creating the shared socket. Workers keep the original umask. */
  readonly umask?: number | undefined
  /** Passed to each worker. */
  readonly role: Pick<WorkerRole, 'port' | 'descriptor'>
  /** The descriptor of the shared socket for the native engine; absent for Node's engine. */
  readonly socket?: number | undefined
  readonly watcher: WorkersWatcher
  /** The store of the builds, if any. Only this process accesses it. */
  readonly store: SharedMirror | undefined
}

/** An observer of the workers. */
interface WorkersWatcher {
  /** Called before a worker begins to listen with this build, and after a reload has activated it. */
  noteBuild(build: ServedBuild & SiteCounts): void
  noteListening(worker: Worker): void
  noteReload(outcome: ReloadOutcome): void
}

/** Running workers. */
export interface RunningWorkers {
  readonly url: string
  /** The URL that redirects plain HTTP to HTTPS, if enabled. */
  readonly redirectUrl: string | undefined
  readonly summary: SiteSummary
  /** The average of a worker's memory when it began to listen. */
  readonly residentBytes: number
  /** Makes all workers serve the current build, or none if one rejects it. */
  reload(): Promise<ReloadOutcome>
  /** Drains all workers. Settles when the last one has ended. */
  close(): Promise<void>
  /** Rejects with an OperatorError when no worker stays alive. */
  readonly collapse: Promise<never>
}

/** Milliseconds beyond the grace period after which a worker is killed. */
const patience = 1000

/**
 * Starts workers with the arguments of this process and restarts those that end.
 *
 * @throws OperatorError if a worker fails at the first start, or if all of them end repeatedly.
 */
export async function startWorkers(options: WorkersOptions): Promise<RunningWorkers> {
  const { count, role, socket, gracePeriod, watcher, store } = options
  const slots = Array.from({ length: count }, (): WorkerSlot => ({ isAdmitted: false, failures: 0 }))
  const changes = new EventEmitter()
  let listening: WorkerReady | undefined
  /** Whether a worker that has ended asked for passwords. */
  let wasProtected = false
  let isStopping = false
  let failure: OperatorError | undefined

  // The fastest policy in docs/decisions/013-port-sharing.md.
  if (process.env['NODE_CLUSTER_SCHED_POLICY'] === undefined) cluster.schedulingPolicy = cluster.SCHED_NONE
  process.once('exit', killAll)
  const reload = coalesceRuns(async () => {
    const problems = await store?.refresh().then(() => undefined, problemLines)
    const loaded = await reloadWorkers(slots)
    // New values of the environment are independent of the store.
    const isNew = loaded.status === 'swapped' && (loaded.hasNewValues ?? loaded.hasNewRules) === true
    const outcome: ReloadOutcome =
      problems === undefined || loaded.status === 'refused' || isNew
        ? loaded
        : { status: 'refused', buildId: loaded.buildId, problems }
    if (outcome.status !== 'refused') store?.noteServed()
    else for (const { worker } of slots) sendToWorker(worker, { type: 'serve-dist:drop' })
    if (loaded.status === 'swapped') watcher.noteBuild(loaded)
    watcher.noteReload(outcome)
    return outcome
  })
  if (socket !== undefined) {
    cluster.setupPrimary({ stdio: ['inherit', 'inherit', 'inherit', 'ipc', socket] })
  }
  const umask = process.umask()
  if (options.umask !== undefined) process.umask(options.umask)
  for (const slot of slots) launch(slot)
  while (readyOnes().length < count) {
    await once(changes, 'change')
    if (failure !== undefined) throw failure
  }
  const [first] = readyOnes()
  if (first === undefined) throw new RangeError('at least one worker is required')
  listening = first

  return {
    url: first.url,
    redirectUrl: first.redirectUrl,
    summary: first.summary,
    residentBytes: readyOnes().reduce((sum, { residentBytes }) => sum + residentBytes, 0) / count,
    reload,
    async close() {
      isStopping = true
      const deadline = setTimeout(killAll, Math.min(gracePeriod + patience, maximumTimeout))
      for (const { worker, ready, timer } of slots) {
        clearTimeout(timer)
        if (ready !== undefined) sendToWorker(worker, { type: 'serve-dist:drain' })
        // A worker that does not listen yet has no running answers.
        else worker?.process.kill('SIGKILL')
      }
      while (slots.some(({ worker }) => worker !== undefined)) await once(changes, 'change')
      clearTimeout(deadline)
    },
    collapse: new Promise((_resolve, reject) => {
      changes.on('change', () => {
        if (failure !== undefined) reject(failure)
      })
    }),
  }

  function launch(slot: WorkerSlot): void {
    const isFirst = slot === slots[0]
    const worker = fork({
      ...role,
      isFirst,
      isReplacement: listening !== undefined,
      isNative: socket !== undefined,
    })
    const begin = performance.now()
    const end = (reason: string): void => {
      slot.worker = undefined
      slot.ready = undefined
      if (slot.isAdmitted && slot.build?.isProtected === true) wasProtected = true
      slot.build = undefined
      slot.isAdmitted = false
      slot.failures = countFailures(slot.failures, performance.now() - begin)
      if (!isStopping && failure === undefined) replace(slot, reason)
      changes.emit('change')
    }
    slot.worker = worker
    worker.on('message', (message: unknown) => {
      if (!isWorkerMessage(message)) return
      if (message.type === 'serve-dist:loaded') {
        slot.build = message
        void admit(slot, worker, message)
      } else if (message.type === 'serve-dist:ready') {
        slot.ready = message
        watcher.noteListening(worker)
      } else if (message.type === 'serve-dist:ask') {
        if (store !== undefined) void answerStoreRequest(worker, message, store.answer)
        return
      } else if (message.type === 'serve-dist:changed-file') changedFiles.publish(message)
      else if (message.type === 'serve-dist:failed') refuse(new OperatorError(message.code, message.message))
      changes.emit('change')
    })
    worker.once('exit', (code, signal) => end(signal ?? `exit code ${code}`))
    worker.on('error', (error) => {
      // The worker did not start. After any other error, 'exit' follows.
      if (worker.process.pid === undefined) end(error.message)
    })
  }

  /** A process inherits the umask of its parent. */
  function fork(given: WorkerRole): Worker {
    const own = process.umask(umask)
    const worker = cluster.fork(toEnvironment(given))
    process.umask(own)
    return worker
  }

  /**
   * Lets a worker listen if it has the build and the environment of the others. A later worker loads the
   * current content of the folder and the env file. Then either all workers activate that, or the later
   * worker is killed.
   */
  async function admit(slot: WorkerSlot, worker: Worker, loaded: WorkerLoaded): Promise<void> {
    if (wasProtected && loaded.isProtected !== true) {
      process.stderr.write(`serve-dist: ${removedBasicAuth}\n`)
      worker.process.kill('SIGKILL')
      return
    }
    const isOther = (): boolean => {
      const others = slots.filter((other) => other !== slot && other.isAdmitted)
      return others.some(({ build }) => !isSame(build, slot.build))
    }
    if (isOther()) {
      const isNew = slots.some(({ build }) => build !== undefined && build.buildId !== loaded.buildId)
      const place = store === undefined ? 'folder' : 'store'
      const hasNewValues = slots.some(
        ({ build }) => build !== undefined && build.environment !== loaded.environment,
      )
      const change = hasNewValues ? 'the environment has other values' : 'the rules have changed'
      const news = isNew ? `the ${place} has a new build` : change
      process.stderr.write(`serve-dist: ${news}: all workers load ${isNew ? 'it' : 'them'}\n`)
      const outcome = await reload()
      if (slot.worker !== worker || isStopping) return
      if (isOther()) {
        process.stderr.write(`serve-dist: ${describeReload(outcome)}\n`)
        worker.process.kill('SIGKILL')
        return
      }
    }
    slot.isAdmitted = true
    if (isSame(slot.build, loaded)) watcher.noteBuild(loaded)
    sendToWorker(worker, { type: 'serve-dist:listen' })
  }

  /** An error at the start affects every worker: report the first one and stop. */
  function refuse(error: OperatorError): void {
    if (listening === undefined) giveUp(error)
    else process.stderr.write(`serve-dist: ${error.code}: ${error.message}\n`)
  }

  function replace(slot: WorkerSlot, reason: string): void {
    const isServing = listening !== undefined && readyOnes().length > 0
    if (slot.failures >= crashLoopLength && !isServing) {
      const ended = `${crashLoopLength} workers in a row ended shortly after their start, the last one by ${reason}`
      giveUp(new OperatorError('SD_WORKERS_FAILED', ended))
      return
    }
    const delay = restartDelay(slot.failures)
    process.stderr.write(`serve-dist: a worker ended by ${reason}. Another one starts in ${delay} ms.\n`)
    slot.timer = setTimeout(launch, delay, slot)
  }

  function giveUp(error: OperatorError): void {
    failure ??= error
    killAll()
  }

  function killAll(): void {
    for (const { worker, timer } of slots) {
      clearTimeout(timer)
      worker?.process.kill('SIGKILL')
    }
  }

  function readyOnes(): WorkerReady[] {
    return slots.flatMap(({ ready }) => ready ?? [])
  }
}

function isSame(one: ServedBuild | undefined, other: ServedBuild | undefined): boolean {
  return one !== undefined && other !== undefined && servedId(one) === servedId(other)
}
