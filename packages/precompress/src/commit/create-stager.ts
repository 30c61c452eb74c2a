import { randomUUID } from 'node:crypto'
import { closeSync, fdatasync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError, stateDirectory } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import { type Disk, disk as realDisk } from '../folder/disk.ts'
import type { VariantClaim } from './read-earlier-build.ts'

/** Everything is written here before it is moved into place; the next pass removes what a killed one left. */
export const stagingPath: string = `${stateDirectory}/staging`

/** Where a pass writes aside. */
export interface StagingArea {
  /** The build's folder, absolute. */
  readonly folder: string
  /** A name of its own: a second pass in this folder makes this one fail, never commit its bytes. */
  readonly pass: string
  /** Whether everything is flushed to the disk before something else relies on it. */
  readonly durable: boolean
}

/** A variant that is written aside. */
export interface StagedVariant extends VariantClaim {
  /** The absolute path at which it waits. */
  readonly aside: string
}

/** Writes variants aside. */
export interface Stager {
  /** Those that are written, in any order. */
  readonly staged: readonly StagedVariant[]
  /** Ends when it is written; what must be flushed is, while others are written. */
  readonly stage: (claim: VariantClaim, bytes: Uint8Array) => Promise<void>
  /** Ends when everything that is written is flushed too. */
  settle(): Promise<void>
}

export function createStagingArea(folder: string, durable: boolean): StagingArea {
  return { folder, pass: randomUUID(), durable }
}

/** The folder in which a pass writes aside. */
export function stagingFolder({ folder, pass }: StagingArea): string {
  return join(folder, stagingPath, pass)
}

/** Several may work in an area at once, in several threads, each under a name of its own. */
export function createStager(area: StagingArea, name: string, disk: Disk = realDisk): Stager {
  const prefix = join(stagingFolder(area), `${name}-`)
  const staged: StagedVariant[] = []
  const flushes = createFlushQueue()
  let begun = 0

  return {
    staged,

    async stage({ path, sha256 }, bytes) {
      const aside = `${prefix}${begun}`
      begun += 1
      try {
        // The area is made when something comes into it.
        const descriptor = disk.writeNew(aside, bytes, () => openStaging(area))
        if (area.durable) await flushes.add(descriptor)
        else closeSync(descriptor)
      } catch (error) {
        throw toWriteError(area.folder, error)
      }
      staged.push({ path, sha256, aside })
    },

    async settle() {
      await flushes.settle().catch((error: unknown) => {
        throw toWriteError(area.folder, error)
      })
    },
  }
}

/** Makes the missing folders one by one: with `recursive`, Node reports a read-only file system as ENOENT. */
export function openStaging({ folder, pass }: StagingArea): void {
  for (const path of [stateDirectory, stagingPath, `${stagingPath}/${pass}`]) {
    try {
      mkdirSync(join(folder, path))
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
  }
}

/** These concern the whole disk, whichever path the system happened to name. */
const ofTheDisk: ReadonlySet<unknown> = new Set(['EDQUOT', 'ENOSPC', 'EROFS'])

/** An error of the file system as a problem of the folder; whatever else was thrown, as it is. */
export function toWriteError(folder: string, error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return error
  const reason = 'code' in error && ofTheDisk.has(error.code) ? reasonOf(error) : error.message
  return new OperatorError('SD_WRITE_FAILED', [`${folder}: cannot be written to (${reason})`], {
    cause: error,
  })
}

/** Flushes what is written while other things are. */
export interface FlushQueue {
  /** Flushes the file and closes it; ends when the next may come. */
  add(descriptor: number): Promise<void>
  /** Ends when all are flushed; fails when one could not be. */
  settle(): Promise<void>
}

/**
 * As many files may be open: more than Node's pool flushes at once, so that it finds the next while this thread
 * encodes, and file systems write several in one go.
 */
const mostOpen = 64

export function createFlushQueue(): FlushQueue {
  const unflushed = new Set<number>()
  let failure: { readonly error: unknown } | undefined
  const waiting: (() => void)[] = []

  const fallsBelow = async (limit: number): Promise<void> => {
    while (unflushed.size >= limit) await new Promise<void>((resolve) => waiting.push(resolve))
    if (failure !== undefined) throw failure.error
  }

  return {
    async add(descriptor) {
      unflushed.add(descriptor)
      // Times need not survive: what is flushed is the content and its length.
      fdatasync(descriptor, (error) => {
        closeSync(descriptor)
        unflushed.delete(descriptor)
        if (error !== null) failure ??= { error }
        for (const resolve of waiting.splice(0)) resolve()
      })
      if (unflushed.size >= mostOpen) await fallsBelow(mostOpen)
    },
    settle: async () => await fallsBelow(1),
  }
}
