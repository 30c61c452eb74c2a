import { readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type Manifest, manifestPath, parseManifest } from '@serve-dist/manifest'
import { readCachedRecords } from '@serve-dist/precompress'
import { compareFolder } from '@serve-dist/server/folder'
import type { PassRequest } from './pass-request.ts'

/** The passes of this process that came to their end, by folder. */
const finished = new Map<string, PassRequest>()
/** The roots of the builds in this process: another one may have made the pass over a folder of theirs. */
const roots = new Set<string>()

/** Compares the folder with its manifest when the process ends: whoever wrote later is told. */
export function rememberPass(pass: PassRequest): void {
  finished.set(pass.folder, pass)
  watchRoot(pass.root)
}

/** Looks at the folders of earlier builds of this project too when the process ends. */
export function watchRoot(root: string): void {
  if (roots.size === 0) process.once('exit', tellChanges)
  roots.add(root)
}

/** The passes of this process over folders of a project that were written to since. */
export function outdatedPasses(root: string): PassRequest[] {
  return [...finished.values()].filter((pass) => pass.root === root && changesIn(pass.folder).length > 0)
}

function tellChanges(): void {
  const others = readCachedRecords([...roots])
    .filter(
      ({ root, folder, record }) => roots.has(root) && record.role === 'client' && !finished.has(folder),
    )
    .map(({ folder }) => ({ folder, changes: recent(folder, changesIn(folder)) }))
  const own = [...finished.keys()].map((folder) => ({ folder, changes: changesIn(folder) }))
  for (const { folder, changes } of [...own, ...others]) {
    const paths = changes.flatMap((change) => change.paths)
    if (paths.length === 0) continue
    const shown = relative(process.cwd(), folder) || '.'
    const what = changes.map((change) => `${change.what}: ${list(change.paths)}`).join('; ')
    process.stderr.write(
      `\n[serve-dist] ${shown} changed after its manifest was written: ${what}. The server cannot serve these files rightly; run this when all is written: npx serve-dist compress ${shown}\n`,
    )
    if (paths.some((path) => path.endsWith('.html'))) process.exitCode = 1
  }
}

/** Files of a folder that differ from its manifest in one way. */
interface Change {
  readonly what: string
  readonly paths: readonly string[]
}

/** None where another build is under way, or where the folder is gone. */
function changesIn(folder: string): readonly Change[] {
  const manifest = readManifest(folder)
  if (manifest === undefined) return []
  const { unlisted, changed, missing } = compareFolder(folder, manifest)
  return [
    { what: 'written since', paths: unlisted },
    { what: 'changed', paths: changed },
    { what: 'deleted', paths: missing },
  ].filter(({ paths }) => paths.length > 0)
}

function readManifest(folder: string): Manifest | undefined {
  try {
    return parseManifest(readFileSync(join(folder, manifestPath), 'utf8'))
  } catch {
    return undefined
  }
}

/** What was written since this process began: what happened before is not this build's. */
function recent(folder: string, changes: readonly Change[]): readonly Change[] {
  const isRecent = (path: string): boolean =>
    (statSync(join(folder, path), { throwIfNoEntry: false })?.ctimeMs ?? 0) >= performance.timeOrigin
  return changes
    .map(({ what, paths }) => ({ what, paths: paths.filter(isRecent) }))
    .filter(({ paths }) => paths.length > 0)
}

function list(paths: readonly string[]): string {
  const rest = paths.length - 3
  return paths.slice(0, 3).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}
