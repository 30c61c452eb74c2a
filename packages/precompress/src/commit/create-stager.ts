import { randomUUID } from 'node:crypto'
import { closeSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { stateDirectory } from '@serve-dist/manifest'
import { createFlushQueue } from './create-flush-queue.ts'
import { isMissing } from '../folder/is-missing.ts'
import type { VariantClaim } from './journal.ts'
import { writeNew } from './write-aside.ts'
import { writeFailure } from './write-failure.ts'

/** Where everything is written before it is moved into place; whatever a killed pass left there is removed. */
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
export function createStager(area: StagingArea, name: string): Stager {
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
        const descriptor = writeInto(area, aside, bytes)
        if (area.durable) await flushes.add(descriptor)
        else closeSync(descriptor)
      } catch (error) {
        throw writeFailure(area.folder, error)
      }
      staged.push({ path, sha256, aside })
    },

    async settle() {
      await flushes.settle().catch((error: unknown) => {
        throw writeFailure(area.folder, error)
      })
    },
  }
}

/** The area is made when something comes into it. */
function writeInto(area: StagingArea, path: string, bytes: Uint8Array): number {
  try {
    return writeNew(path, bytes)
  } catch (error) {
    if (!isMissing(error)) throw error
    openStaging(area)
    return writeNew(path, bytes)
  }
}

/** Makes what is missing of the area, one by one: Node tells of a read-only file system as ENOENT otherwise. */
export function openStaging({ folder, pass }: StagingArea): void {
  for (const path of [stateDirectory, stagingPath, `${stagingPath}/${pass}`]) {
    try {
      mkdirSync(join(folder, path))
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
  }
}
