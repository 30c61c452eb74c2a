/**
 * Six times the size of a whole head that a server accepts. At this length, a parser that is not linear
 * exceeds the limit.
 */
const hostileLength = 100_000

/** Milliseconds. A linear parser needs far less at that length, a quadratic one far more. */
export const linearTimeLimit = 250

/**
 * Returns long texts of each repeated piece: alone, and between others that make a match start or fail late.
 */
export function hostileTexts(
  pieces: readonly string[],
  before: readonly string[] = [''],
  after: readonly string[] = ['', '\u0000'],
): string[] {
  return pieces.flatMap((piece) => {
    const repeated = piece.repeat(Math.ceil(hostileLength / piece.length))
    return before.flatMap((head) => after.map((tail) => head + repeated + tail))
  })
}

/**
 * Returns the CPU time of a call in milliseconds. Repeats slow calls because other threads of this process
 * add to the time.
 */
export function millisecondsOf(call: () => unknown): number {
  let least = Number.POSITIVE_INFINITY
  for (let time = 0; time < 5 && least >= linearTimeLimit; time += 1) {
    const start = process.cpuUsage()
    call()
    const { user, system } = process.cpuUsage(start)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}
