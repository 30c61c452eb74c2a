import type { Answer, Site } from '../site/site.ts'
import type { EngineAnswer, EngineAnswers, EngineWatcher } from '../transport/transport.ts'
import { type Exchange, refusedExchange, summarize, type AnswerSummary } from './exchange.ts'
import type { RequestObserver } from './observe-requests.ts'
import type { AddressReader } from './trust-proxy.ts'

/** An observer of the answers that an engine sends without Node. */
export interface EngineObserver extends EngineWatcher {
  /** Returns the counters since the start; `undefined` without an engine. */
  readonly readCounts: () => EngineCounts | undefined
  /** Records finished answers, for a few milliseconds per call. */
  noteEnded(): void
  /** Records the remaining answers. */
  close(): void
}

/** Counters of an engine. */
export interface EngineCounts extends Omit<ReturnType<EngineAnswers['readCounts']>, 'begun' | 'byClass'> {
  readonly underWay: number
  readonly byClass: readonly (readonly [AnswerSummary, count: number])[]
}

/** Options of `observeEngine`. */
export interface EngineObserverOptions {
  readonly durationBuckets: readonly number[]
  /** Called once for each answer with the site at its end; absent if answers are only counted. */
  readonly note: ((exchange: Exchange, site: Site | undefined) => void) | undefined
  /** Returns the current site. */
  readonly current: () => Site | undefined
  readonly addressOf: AddressReader
  /** The observers of refused requests. */
  readonly observers: readonly RequestObserver[]
}

/** Milliseconds between checks for finished answers. */
const interval = 100
/** Milliseconds of recording per turn of the event loop. */
const sliceTime = 5

export function observeEngine({
  durationBuckets,
  note,
  current,
  addressOf,
  observers,
}: EngineObserverOptions): EngineObserver {
  const classes: AnswerSummary[] = []
  const numbers = new Map<string, number>()
  let source: EngineAnswers | undefined
  /** Answers that are not recorded yet. The engine keeps newer answers until these are recorded. */
  const taken: { readonly answers: Iterator<EngineAnswer>; readonly site: Site | undefined }[] = []
  let timer: NodeJS.Timeout | undefined
  let next: NodeJS.Immediate | undefined

  function take(): void {
    if (source !== undefined) taken.push({ answers: source.takeEnded(), site: current() })
  }

  /** Records answers until the deadline; the others follow later. */
  function noteUntil(deadline: number): void {
    for (let first = taken[0]; first !== undefined; first = taken[0]) {
      const { done, value } = first.answers.next()
      if (done === true) {
        taken.shift()
      } else {
        note?.(exchangeOf(value), first.site)
        if (performance.now() >= deadline) {
          next ??= setImmediate(() => {
            next = undefined
            noteEnded()
          })
          return
        }
      }
    }
  }

  function noteEnded(): void {
    if (note === undefined) return
    if (taken.length === 0) take()
    noteUntil(performance.now() + sliceTime)
  }

  /** Takes once: the engine still answers while the process exits. */
  function noteAll(): void {
    if (note === undefined) return
    take()
    noteUntil(Number.POSITIVE_INFINITY)
  }

  function exchangeOf(answer: EngineAnswer): Exchange {
    const { class: number, request, peer, ended: time, milliseconds, bytes, isAborted } = answer
    const { status, coding, cache } = classes[number] ?? unknownAnswer
    const address = addressOf({ rawHeaders: request.rawHeaders, socket: { remoteAddress: peer } })
    // The saved bytes are counted, but not logged.
    return { request, address, status, coding, cache, bytes, savedBytes: 0, milliseconds, isAborted, time }
  }

  return {
    durationBuckets,
    isLogged: note !== undefined,
    classOf(answer: Answer) {
      const summary = summarize(answer)
      const name = Object.values(summary).join(' ')
      const known = numbers.get(name)
      if (known !== undefined) return known
      numbers.set(name, classes.length)
      return classes.push(summary) - 1
    },
    follow(answers) {
      source = answers
      if (note === undefined) return
      timer = setInterval(noteEnded, interval).unref()
      process.prependListener('exit', noteAll)
    },
    noteEnded,
    noteSwap() {
      if (note !== undefined) take()
    },
    noteRefusal({ address: peer, ...refusal }) {
      const address = addressOf({ rawHeaders: [], socket: { remoteAddress: peer } })
      const exchange = { ...refusedExchange, ...refusal, address }
      for (const { begin, end } of observers) {
        begin?.()
        end(exchange)
      }
    },
    readCounts() {
      if (source === undefined) return undefined
      const { begun, byClass, ...counts } = source.readCounts()
      const over = byClass.reduce((sum, count) => sum + count, 0)
      return {
        ...counts,
        underWay: Math.max(0, begun - over),
        byClass: classes.map((summary, number) => [summary, byClass[number] ?? 0] as const),
      }
    },
    close() {
      noteAll()
      clearInterval(timer)
      clearImmediate(next)
      process.off('exit', noteAll)
    },
  }
}

/** Unreachable, because each class was created for an answer. */
const unknownAnswer: AnswerSummary = { status: 200, coding: 'identity', cache: 'other' }
