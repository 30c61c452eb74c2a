/** Which engine answers: the native one where it can be had, or one of them whatever comes. */
export const engineChoices = ['auto', 'native', 'node'] as const
export type EngineChoice = (typeof engineChoices)[number]

/** The engine that answers a build's files. */
export interface RunningEngine {
  readonly name: 'native' | 'node'
  /** How many answer; those of the native one alone. */
  readonly threads?: number
  /** Why it is not the native one, where nobody chose another. */
  readonly why?: string
}
