import { readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { compressCommand, manifestPath, parseManifest } from '@serve-dist/manifest'
import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import { readCachedRecords } from '@serve-dist/precompress'
import { compareFolder } from '@serve-dist/server/folder'
import { describeLateWriterFix } from '../integrations/registered-integrations.ts'
import type { PassRequest } from './pass-request.ts'

/** The passes of this process that came to their end, by folder. */
const finishedPasses = new Map<string, PassRequest>()
/** The roots of the builds in this process: another one may have made the pass over a folder of theirs. */
const projectRoots = new Set<string>()

/** Compares the folder with its manifest when the process ends: whoever wrote later is told. */
export function checkFolderAtExit(pass: PassRequest): void {
  finishedPasses.set(pass.folder, pass)
  checkProjectAtExit(pass.root)
}

/** Looks at the folders of earlier builds of this project too when the process ends. */
export function checkProjectAtExit(root: string): void {
  if (projectRoots.size === 0) process.once('exit', reportChanges)
  projectRoots.add(root)
}

/** The passes of this process over folders of a project that were written to since. */
export function findOutdatedPasses(root: string): PassRequest[] {
  return [...finishedPasses.values()].filter(
    (pass) => pass.root === root && findChanges(pass.folder).length > 0,
  )
}

function reportChanges(): void {
  const known = readCachedRecords([...projectRoots]).filter(
    ({ root, record }) => projectRoots.has(root) && record.role === 'client',
  )
  for (const folder of new Set([...finishedPasses.keys(), ...known.map((stored) => stored.folder)])) {
    // What happened to another build's folder before this process began is not this build's.
    const changes = findChanges(folder, finishedPasses.has(folder) ? 0 : performance.timeOrigin)
    if (changes.length === 0) continue
    const shown = relative(process.cwd(), folder) || '.'
    const what = changes.map(([how, paths]) => `${how}: ${joinFirstNames(paths)}`).join('; ')
    process.stderr.write(
      `\n[serve-dist] ${shown} changed after its manifest was written: ${what}. The server cannot serve these files rightly; ${describeLateWriterFix(compressCommand(shown, '@serve-dist/server'))}\n`,
    )
    if (changes.some(([, paths]) => paths.some((path) => path.endsWith('.html')))) process.exitCode = 1
  }
}

/** In which ways a folder differs from its manifest. */
function findChanges(folder: string, since = 0): [how: string, paths: readonly string[]][] {
  const isLater = (path: string): boolean =>
    (statSync(join(folder, path), { throwIfNoEntry: false })?.ctimeMs ?? 0) >= since
  try {
    const manifest = parseManifest(readFileSync(join(folder, manifestPath), 'utf8'))
    const { unlisted, changed, missing } = compareFolder(folder, manifest)
    return Object.entries({ 'written since': unlisted, changed, deleted: missing })
      .map(([how, paths]): [string, string[]] => [how, paths.filter(isLater)])
      .filter(([, paths]) => paths.length > 0)
  } catch {
    // The folder is gone or was emptied for another build, or another release wrote its manifest: the server says so.
    return []
  }
}
