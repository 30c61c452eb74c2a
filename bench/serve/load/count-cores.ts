/** Counts the cores in a list of `taskset -c`: `1`, `0,1`, `0-3`. */
export function countCores(list: string): number {
  return list
    .split(',')
    .map((part) => part.split('-').map(Number))
    .reduce((count, [first = 0, last = first]) => count + last - first + 1, 0)
}
