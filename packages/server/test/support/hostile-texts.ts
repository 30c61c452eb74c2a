/** Six times what a server accepts as a whole head: a parser that is not linear shows at this length. */
const hostileLength = 100_000

/** What any linear parser stays far below at that length, and what a quadratic one exceeds by far. */
export const linearTimeLimit = 250

/** Long texts of each piece repeated, alone and between others that make a match begin or fail late. */
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
 * Milliseconds of the processor's time that a call takes: a machine that is busy otherwise adds none. What takes long is
 * tried again, for other threads of this process add theirs.
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
