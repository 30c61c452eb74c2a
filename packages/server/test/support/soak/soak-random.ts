/** Pseudo-random numbers that depend only on the seed. */
export interface Random {
  /** Returns an integer from 0 to `end` - 1. */
  readonly integer: (end: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <Item>(from: readonly [Item, ...Item[]]) => Item
}

/** Creates a generator (Mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed | 0
  const next = (): number => {
    state = (state + 0x6d_2b_79_f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (end: number): number => Math.floor(next() * end)
  return {
    integer,
    chance: (probability) => next() < probability,
    pick: (from) => from[integer(from.length)] ?? from[0],
  }
}
