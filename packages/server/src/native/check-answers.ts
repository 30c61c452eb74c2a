import type { Engine } from '@serve-dist/engine'
import { escapeMessage } from '@serve-dist/foundation/text/escape-invisible'
import { createRequestFieldsReader } from '../send/read-request-fields.ts'
import { decide } from '../site/decide.ts'
import type { Answer, AnswerContent, Site } from '../site/site.ts'
import type { EngineAnswer } from '../transport/transport.ts'
import { readRecords } from './engine-answers.ts'

type ObservedEngine = Pick<Engine, 'counts' | 'takeLog' | 'panics' | 'dropped'>

/** An engine whose answers are compared with those of `decide`. */
export interface CheckedEngine extends ObservedEngine {
  /** From now on it answers of this site. */
  swap(site: Site): void
  /** Compares the rest, and says how many were compared, and how many of them differ. */
  end(): void
}

interface CheckOptions {
  /** Whether somebody else takes the records, too. */
  readonly isLogged: boolean
  readonly tell?: (line: string) => void
}

/** Milliseconds between looks. */
const interval = 100
/** What connections and the clock add to a head. */
const isAdded = /^(?:date|connection|keep-alive): /

/**
 * Compares each answer of an engine with what `decide` answers to the same request: its status, its fields (the tag of the
 * representation is one) and the length of its body. Each kind of difference is told once.
 *
 * @param tell - takes a line; the default is standard error.
 */
export function checkAnswers(
  engine: ObservedEngine,
  { isLogged, tell = printLine }: CheckOptions,
): CheckedEngine {
  const readFields = createRequestFieldsReader()
  /** The last first. An answer may have begun before the swap. */
  const sites: { readonly site: Site; readonly since: number }[] = []
  const told = new Set<string>()
  let [compared, different] = [0, 0]
  let forLog: Uint8Array[] = []

  function check(answer: EngineAnswer): void {
    const [first, before] = sites
    if (first === undefined || answer.ended - answer.milliseconds < (before?.since ?? 0)) return
    compared += 1
    const differences = sites.map(({ site }) => differenceOf(answer, decideAgain(site, answer)))
    const [difference] = differences
    if (difference === undefined || differences.includes(undefined)) return
    different += 1
    const kind = difference.map((line) => line.replace(/:.*/s, '')).join()
    if (told.has(kind)) return
    told.add(kind)
    const { method, url } = answer.request
    tell(escapeMessage(`${method} ${url}: not what decide answers (-), but (+): ${difference.join('; ')}`))
  }

  function decideAgain(site: Site, { request }: EngineAnswer): Answer | undefined {
    return decide(site, readFields(request), undefined)
  }

  function look(): void {
    const logs = engine.takeLog()
    for (const log of logs) for (const answer of readRecords(log)) check(answer)
    if (isLogged) forLog.push(...logs)
  }
  const timer = setInterval(look, interval).unref()

  return {
    counts: () => engine.counts(),
    panics: () => engine.panics(),
    dropped: () => engine.dropped(),
    takeLog() {
      look()
      const logs = forLog
      forLog = []
      return logs
    },
    swap(site) {
      look()
      sites.unshift({ site, since: Date.now() })
      sites.length = Math.min(sites.length, 2)
    },
    end() {
      clearInterval(timer)
      look()
      tell(`${compared} answers compared, ${different} differ`)
    },
  }
}

/** The lines that only one of both has; `undefined` where they are alike. */
function differenceOf(answer: EngineAnswer, expected: Answer | undefined): readonly string[] | undefined {
  const [found, wanted] = [linesOf(answer), expected === undefined ? [] : expectedLines(expected, answer)]
  const missing = wanted.filter((line) => !found.includes(line)).map((line) => `- ${line}`)
  const added = found.filter((line) => !wanted.includes(line)).map((line) => `+ ${line}`)
  return missing.length + added.length === 0 ? undefined : [...missing, ...added]
}

function linesOf({ head, bytes, isAborted }: EngineAnswer): readonly string[] {
  const [statusLine = '', ...fields] = head.split('\r\n')
  const lines = fields.map(withLowerCaseName).filter((line) => !isAdded.test(line))
  return [`status: ${statusLine.split(' ')[1]}`, ...lines, ...(isAborted ? [] : [`body: ${bytes} bytes`])]
}

function expectedLines(
  { status, fields, content }: Answer,
  { request, isAborted }: EngineAnswer,
): readonly string[] {
  const lines = [`status: ${status}`]
  for (let index = 0; index + 1 < fields.length; index += 2)
    lines.push(withLowerCaseName(`${fields[index]}: ${fields[index + 1]}`))
  const length = request.method === 'HEAD' ? 0 : lengthOf(content)
  return isAborted ? lines : [...lines, `body: ${length} bytes`]
}

function lengthOf(content: AnswerContent): number {
  if (content.kind === 'none') return 0
  return content.kind === 'memory' ? content.bytes.length : content.end - content.first
}

/** Over HTTP/2 names are in lower case. */
function withLowerCaseName(line: string): string {
  return line.replace(/^[^:]*/, (name) => name.toLowerCase())
}

function printLine(line: string): void {
  process.stderr.write(`serve-dist: engine check: ${line}\n`)
}
