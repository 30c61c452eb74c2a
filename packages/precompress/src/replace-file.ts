import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { isMissing } from './is-missing.ts'

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

function writeNew(path: string, bytes: Uint8Array): void {
  try {
    writeFileSync(path, bytes, { flag: 'wx' })
  } catch (error) {
    if (!isMissing(error)) throw error
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, bytes, { flag: 'wx' })
  }
}
