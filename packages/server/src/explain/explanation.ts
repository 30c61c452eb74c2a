import type { ByteRange } from '../protocol/byte-range.ts'
import type { Representation, Resource } from '../site/site.ts'

/** A row of docs/http.md: its section and its condition. A test finds each one in the document. */
export type HttpRow =
  `${'Which resource' | 'Fallbacks' | 'Methods' | 'Which representation' | 'Conditions' | 'Ranges' | 'Freshness' | 'Deltas' | 'Another build' | 'As middleware'}: ${string}`

/** One step of an answer, in words. */
export interface ExplainedStep {
  /** Its number in `hosts/handler.ts`. */
  readonly step: number
  readonly text: string
  /** One line for each of what there was to choose from. */
  readonly details?: readonly string[]
  readonly row: HttpRow
}

/** What the steps lead to; without a status the path is unknown, and the answer is the host's. */
export interface Outcome {
  readonly status: number | undefined
  /** The file that the answer is about. */
  readonly resource?: Resource
  /** The representation that is sent. */
  readonly representation?: Representation
  readonly range?: ByteRange
}

/** The steps, and what they lead to. */
export interface Explained {
  readonly steps: readonly ExplainedStep[]
  readonly outcome: Outcome
}

/** A step as an object, written in one line. */
export function say(step: number, text: string, row: HttpRow): ExplainedStep {
  return { step, text, row }
}
