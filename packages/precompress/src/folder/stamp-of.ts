import type { BigIntStats } from 'node:fs'

/** Which file it is, when its bytes last changed, when anything of it did (nobody can set that), and its size. */
export function stampOf({ dev, ino, mtimeNs, ctimeNs, size }: BigIntStats): string {
  return `${dev} ${ino} ${mtimeNs} ${ctimeNs} ${size}`
}
