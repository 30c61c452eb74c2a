import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { isMissing } from '../folder/is-missing.ts'

/** Puts a whole file in the place of another, whoever reads it meanwhile; the folders on the way are made. */
export function replaceFile(path: string, bytes: Uint8Array): void {
  const temporary = `${path}.${randomUUID()}`
  try {
    writeNew(temporary, bytes)
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    // Windows replaces no file that somebody reads.
    if (process.platform !== 'win32' || !existsSync(path)) throw error
  }
}

/** Whether a file is named like those that are to take the place of another. */
export function isTemporary(path: string): boolean {
  return /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(path)
}

function writeNew(path: string, bytes: Uint8Array): void {
  try {
    writeFileSync(path, bytes, { flag: 'wx' })
  } catch (error) {
    if (!isMissing(error)) throw error
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, bytes, { flag: 'wx' })
  }
}
