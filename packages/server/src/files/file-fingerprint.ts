import type { BigIntStats } from 'node:fs'
import type { FileFingerprint } from '../site/site.ts'

/** What tells this content of a file from another that may take its place. */
export function fingerprintOf({ size, mtimeNs, ino }: BigIntStats): FileFingerprint {
  return { size, modifiedNanoseconds: mtimeNs, inode: ino }
}

/** Whether the file is still the one that was fingerprinted. */
export function isSameFile(a: FileFingerprint, b: FileFingerprint): boolean {
  return a.size === b.size && a.modifiedNanoseconds === b.modifiedNanoseconds && a.inode === b.inode
}
