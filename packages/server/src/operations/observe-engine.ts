import type { Answer, Site } from '../site/site.ts'
import type { EngineAnswer, EngineAnswers, EngineWatcher } from '../transport/transport.ts'
import { type Exchange, refusedExchange, summarize, type AnswerSummary } from './exchange.ts'
import type { RequestObserver } from './observe-requests.ts'
import type { AddressReader } from './trust-proxy.ts'

/** Follows what an engine answers without Node. */
export interface EngineObserver extends EngineWatcher {
  /** What it has counted since the begin; `undefined` where there is no engine. */
  readonly readCounts: () => EngineCounts | undefined
  /** Notes answers that have ended, for a few milliseconds at once. */
  noteEnded(): void
  /** Notes the rest. */
  close(): void
}

/** Counts of an engine. */
export interface EngineCounts extends Omit<ReturnType<EngineAnswers['readCounts']>, 'begun' | 'byClass'> {
  readonly underWay: number
  readonly byClass: readonly (readonly [AnswerSummary, count: number])[]
}

/** What `observeEngine` takes. */
export interface EngineObserverOptions {
  readonly durationBuckets: readonly number[]
  /** Called once for each answer, with the site that was current when it ended; absent where they are only counted. */
  readonly note: ((exchange: Exchange, site: Site | undefined) => void) | undefined
  /** The site that is served now. */
  readonly current: () => Site | undefined
  readonly addressOf: AddressReader
  /** Who hears of what is refused. */
  readonly observers: readonly RequestObserver[]
}

/** Milliseconds between looks at answers that have ended. */
const interval = 100
/** Milliseconds that noting may take at once. */
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
  /** Taken, and not noted yet: the engine keeps what follows until these are. */
  const taken: { readonly answers: Iterator<EngineAnswer>; readonly site: Site | undefined }[] = []
  let timer: NodeJS.Timeout | undefined
  let next: NodeJS.Immediate | undefined

  function take(): void {
    if (source !== undefined) taken.push({ answers: source.takeEnded(), site: current() })
  }

  /** Notes what was taken, until then; the rest later. */
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

  /** Once: a process that exits while the engine still answers would find more each time. */
  function noteAll(): void {
    if (note === undefined) return
    take()
    noteUntil(Number.POSITIVE_INFINITY)
  }

  function exchangeOf(answer: EngineAnswer): Exchange {
    const { class: number, request, peer, ended: time, milliseconds, bytes, isAborted } = answer
    const { status, coding, cache } = classes[number] ?? unknownAnswer
    const address = addressOf({ rawHeaders: request.rawHeaders, socket: { remoteAddress: peer } })
    // What it saved is counted, not logged.
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

/** Cannot happen: each class was given to an answer. */
const unknownAnswer: AnswerSummary = { status: 200, coding: 'identity', cache: 'other' }
