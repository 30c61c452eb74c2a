import type { Worker } from 'node:cluster'
import { hearFrom } from './hear-from.ts'

/** What a registry of `prom-client` has, as JSON. */
type RegistryContent = readonly object[]

interface MetricsQuestion {
  readonly type: 'serve-dist:metrics'
  readonly id: number
}

interface MetricsAnswer {
  readonly type: 'serve-dist:counted'
  readonly id: number
  /** The metrics, or why they cannot be read. */
  readonly content: RegistryContent | string
}

/** What is known of workers' metrics. */
export interface WorkersContent {
  /** Of each worker what it tells, or what it told last. */
  readonly contents: readonly RegistryContent[]
  readonly answering: number
  readonly silent: number
}

/** Milliseconds that a worker may take: whoever scrapes waits for 10 seconds, as a rule, and wants the others' then. */
const patience = 2000

/** Lets the primary process read a worker's metrics. */
export function answerMetrics(read: () => Promise<RegistryContent>): void {
  process.on('message', (message: unknown) => {
    if (!isQuestion(message)) return
    void tellMetrics(message.id, read)
  })
}

async function tellMetrics(id: number, read: () => Promise<RegistryContent>): Promise<void> {
  // A rejection that nobody handles would end the worker, at each scrape.
  const content = await read().catch(String)
  const answer: MetricsAnswer = { type: 'serve-dist:counted', id, content }
  process.send?.(answer, () => {})
}

/**
 * Reads workers' metrics; one that does not tell them is named once on standard error, and counts with what it told
 * last: without it, counters would fall, and seem to have begun anew.
 *
 * @param workers - that listen.
 */
export function createWorkersReader(workers: () => readonly Worker[]): () => Promise<WorkersContent> {
  const latest = new Map<Worker, RegistryContent>()
  const silent = new Set<Worker>()
  let questions = 0

  return async () => {
    const asked = workers()
    for (const worker of latest.keys()) if (!asked.includes(worker)) latest.delete(worker)
    for (const worker of silent) if (!asked.includes(worker)) silent.delete(worker)
    questions += 1
    const id = questions
    const answers = await Promise.all(
      asked.map(async (worker) => {
        const content = await askMetrics(worker, id)
        if (isContent(content)) {
          latest.set(worker, content)
          silent.delete(worker)
        } else if (!silent.has(worker) && worker.isConnected()) {
          silent.add(worker)
          const problem =
            content === undefined
              ? `did not tell its metrics within ${patience / 1000} s`
              : `cannot read its metrics (${content})`
          process.stderr.write(
            `serve-dist: worker ${worker.process.pid} ${problem}; what it told last is counted on\n`,
          )
        }
        return content
      }),
    )
    const answering = answers.filter(isContent).length
    const contents = asked.flatMap((worker) => {
      const content = latest.get(worker)
      return content === undefined ? [] : [content]
    })
    return { contents, answering, silent: asked.length - answering }
  }
}

/** @returns what it has, why it cannot be read, or `undefined` without an answer. */
async function askMetrics(worker: Worker, id: number): Promise<MetricsAnswer['content'] | undefined> {
  const read = (message: unknown): MetricsAnswer['content'] | undefined =>
    isAnswer(message) && message.id === id ? message.content : undefined
  const answered = hearFrom(worker, read, AbortSignal.timeout(patience))
  const question: MetricsQuestion = { type: 'serve-dist:metrics', id }
  if (worker.isConnected()) worker.send(question, () => {})
  return await answered
}

function isContent(content: MetricsAnswer['content'] | undefined): content is RegistryContent {
  return typeof content === 'object'
}

function isQuestion(message: unknown): message is MetricsQuestion {
  return hasType(message, ['serve-dist:metrics'])
}

function isAnswer(message: unknown): message is MetricsAnswer {
  return hasType(message, ['serve-dist:counted'])
}

/** Whether it is one of ours: an application may send messages of its own, but none with our names. */
export function hasType(message: unknown, types: readonly string[]): boolean {
  if (typeof message !== 'object' || message === null || !('type' in message)) return false
  return typeof message.type === 'string' && types.includes(message.type)
}
