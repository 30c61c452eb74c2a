import { randomUUID } from 'node:crypto'
import { closeSync, fdatasync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError, stateDirectory } from '@serve-dist/manifest'
import { hasErrorCode, reasonOf } from '@serve-dist/foundation/files/file-error'
import { type Disk, disk as realDisk } from '../folder/disk.ts'
import type { VariantClaim } from './read-earlier-build.ts'

/** The staging folder. The next compression removes the remains of a killed one. */
export const stagingPath: string = `${stateDirectory}/staging`

/** The staging area of one compression. */
export interface StagingArea {
  /** The build's folder, absolute. */
  readonly folder: string
  /** A unique name. If two compressions run in one folder, one fails instead of publishing bytes of the other. */
  readonly pass: string
  /** Whether files are flushed to the disk before other files refer to them. */
  readonly durable: boolean
}

/** A variant in the staging folder. */
export interface StagedVariant extends VariantClaim {
  /** The absolute path of the staged file. */
  readonly aside: string
}

/** Writes variants into the staging folder. */
export interface Stager {
  /** The staged variants, in any order. */
  readonly staged: readonly StagedVariant[]
  /** Resolves when the variant is written. The flush may happen later. */
  readonly stage: (claim: VariantClaim, bytes: Uint8Array) => Promise<void>
  /** Resolves when all variants are flushed. */
  settle(): Promise<void>
}

export function createStagingArea(folder: string, durable: boolean): StagingArea {
  return { folder, pass: randomUUID(), durable }
}

/** Returns the staging folder of a compression. */
export function stagingFolder({ folder, pass }: StagingArea): string {
  return join(folder, stagingPath, pass)
}

/** Creates a stager. Several threads may use one area, each with a unique name. */
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

/** Creates the missing folders one by one. With `recursive`, Node reports a read-only file system as ENOENT. */
export function openStaging({ folder, pass }: StagingArea): void {
  for (const path of [stateDirectory, stagingPath, `${stagingPath}/${pass}`]) {
    try {
      mkdirSync(join(folder, path))
    } catch (error) {
      if (!hasErrorCode(error, 'EEXIST')) throw error
    }
  }
}

/** Errors of the whole disk, for which the path is not relevant. */
const ofTheDisk: ReadonlySet<unknown> = new Set(['EDQUOT', 'ENOSPC', 'EROFS'])

/** Converts an error of the file system into an `OperatorError` for the folder. Returns other errors unchanged. */
export function toWriteError(folder: string, error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return error
  const reason = 'code' in error && ofTheDisk.has(error.code) ? reasonOf(error) : error.message
  return new OperatorError(
    'SD_WRITE_FAILED',
    [
      `${folder}: cannot write to this folder (${reason}). Free disk space or change the permissions, then build again.`,
    ],
    { cause: error },
  )
}

/** Flushes files in the background. */
export interface FlushQueue {
  /** Flushes and closes a file. Resolves when the queue can accept the next file. */
  add(descriptor: number): Promise<void>
  /** Resolves when all files are flushed. Rejects if a flush failed. */
  settle(): Promise<void>
}

/**
 * The number of open files. It exceeds Node's thread pool, so that the pool always has work while this thread encodes.
 * File systems combine concurrent flushes.
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
      // `fdatasync` is enough, because times need not survive a crash.
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
