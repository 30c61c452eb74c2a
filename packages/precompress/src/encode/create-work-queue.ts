/** Limits of concurrent work. */
export interface WorkLimits {
  readonly tasks: number
  /** In bytes. Work that needs more runs alone. */
  readonly memory: number
}

/** The cost and the memory of a task. */
interface WorkSize {
  /** In the unit of `encodingCost`. */
  readonly cost: number
  /** In bytes. */
  readonly memory: number
}

/** Starts the work when the limits allow it, and returns its result. */
export type RunWork = <Result>(size: WorkSize, begin: () => Promise<Result>) => Promise<Result>

interface WaitingWork extends WorkSize {
  /** The cost of the smaller work that started earlier because it fits into the memory. */
  passedBy: number
  readonly begin: () => Promise<void>
}

/**
 * Creates a queue that starts the largest work that fits first. Otherwise one core could be busy with a large file at
 * the end. Work that needs no memory always fits.
 */
export function createWorkQueue(limits: WorkLimits): RunWork {
  const waiting: WaitingWork[] = []
  let running = 0
  let memoryHeld = 0

  const fits = ({ memory }: WorkSize): boolean => memoryHeld === 0 || memoryHeld + memory <= limits.memory

  const takeNext = (): WaitingWork | undefined => {
    // No work waits forever: after that much smaller work, the running work ends first.
    const isHeldUp = waiting.some((work) => work.passedBy >= work.cost && !fits(work))
    const first = waiting.findIndex((work) => work.memory === 0 || (!isHeldUp && fits(work)))
    if (first === -1) return undefined
    const [next] = waiting.splice(first, 1)
    for (const passed of waiting.slice(0, first)) passed.passedBy += next?.cost ?? 0
    return next
  }

  const startNext = (): void => {
    while (running < limits.tasks) {
      const next = takeNext()
      if (next === undefined) return
      running += 1
      memoryHeld += next.memory
      void next.begin().finally(() => {
        running -= 1
        memoryHeld -= next.memory
        startNext()
      })
    }
  }

  return async (size, begin) =>
    await new Promise((resolve, reject) => {
      const place = waiting.findIndex(({ cost }) => cost < size.cost)
      const work = { ...size, passedBy: 0, begin: async () => await begin().then(resolve, reject) }
      waiting.splice(place === -1 ? waiting.length : place, 0, work)
      startNext()
    })
}
