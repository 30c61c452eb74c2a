import { readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { compressCommand, manifestPath, parseManifest } from '@serve-dist/manifest'
import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import { readCachedRecords } from '@serve-dist/precompress'
import { compareFolder } from '@serve-dist/server/folder'
import { describeLateWriterFix } from '../integrations/registered-integrations.ts'
import type { CompressionRequest } from './compression-request.ts'

/** Completed compressions of this process, by folder. */
const finishedCompressions = new Map<string, CompressionRequest>()
/** Roots of the builds in this process. Another process may have compressed their folders. */
const projectRoots = new Set<string>()

/** Compares the folder with its manifest when the process ends, and reports later changes. */
export function checkFolderAtExit(pass: CompressionRequest): void {
  finishedCompressions.set(pass.folder, pass)
  checkProjectAtExit(pass.root)
}

/** Also checks the folders of earlier builds of this project when the process ends. */
export function checkProjectAtExit(root: string): void {
  if (projectRoots.size === 0) process.once('exit', reportChanges)
  projectRoots.add(root)
}

/** Returns the compressions of this process whose folders have changed since. */
export function findOutdatedCompressions(root: string): CompressionRequest[] {
  return [...finishedCompressions.values()].filter(
    (pass) => pass.root === root && findChanges(pass.folder).length > 0,
  )
}

function reportChanges(): void {
  const known = readCachedRecords([...projectRoots]).filter(
    ({ root, record }) => projectRoots.has(root) && record.role === 'client',
  )
  for (const folder of new Set([...finishedCompressions.keys(), ...known.map((stored) => stored.folder)])) {
    // Ignore changes of other builds' folders before this process started.
    const changes = findChanges(folder, finishedCompressions.has(folder) ? 0 : performance.timeOrigin)
    if (changes.length === 0) continue
    const shown = relative(process.cwd(), folder) || '.'
    const what = changes.map(([how, paths]) => `${how}: ${joinFirstNames(paths)}`).join('; ')
    process.stderr.write(
      `\n[serve-dist] ${shown} changed after its manifest was written: ${what}. The server does not serve these files correctly. ${describeLateWriterFix(compressCommand(shown, '@serve-dist/server'))}\n`,
    )
    if (changes.some(([, paths]) => paths.some((path) => path.endsWith('.html')))) process.exitCode = 1
  }
}

/** Returns the differences between a folder and its manifest, by kind. */
function findChanges(folder: string, since = 0): [how: string, paths: readonly string[]][] {
  const isLater = (path: string): boolean =>
    (statSync(join(folder, path), { throwIfNoEntry: false })?.ctimeMs ?? 0) >= since
  try {
    const manifest = parseManifest(readFileSync(join(folder, manifestPath), 'utf8'))
    const { unlisted, changed, missing } = compareFolder(folder, manifest)
    return Object.entries({ added: unlisted, changed, deleted: missing })
      .map(([how, paths]): [string, string[]] => [how, paths.filter(isLater)])
      .filter(([, paths]) => paths.length > 0)
  } catch {
    // The folder is missing or empty, or another release wrote its manifest. The server reports this.
    return []
  }
}
