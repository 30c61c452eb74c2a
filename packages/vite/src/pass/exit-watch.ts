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
    .map(({ folder }) => folder)
  const changes = [
    ...[...finished.keys()].map((folder) => ({ folder, paths: changesIn(folder) })),
    ...others.map((folder) => ({
      folder,
      paths: changesIn(folder).filter((path) => isRecent(folder, path)),
    })),
  ]
  for (const { folder, paths } of changes) {
    if (paths.length === 0) continue
    const shown = relative(process.cwd(), folder) || '.'
    process.stderr.write(
      `\n[serve-dist] ${shown} changed after its manifest was written: ${list(paths)}. The server would answer 404 or refuse the folder; run this when everything is written: npx serve-dist compress ${shown}\n`,
    )
    if (paths.some((path) => path.endsWith('.html'))) process.exitCode = 1
  }
}

/** None where another build is under way, or where the folder is gone. */
function changesIn(folder: string): readonly string[] {
  const manifest = readManifest(folder)
  if (manifest === undefined) return []
  const { unlisted, missing, changed } = compareFolder(folder, manifest)
  return [...unlisted, ...changed, ...missing]
}

function readManifest(folder: string): Manifest | undefined {
  try {
    return parseManifest(readFileSync(join(folder, manifestPath), 'utf8'))
  } catch {
    return undefined
  }
}

/** Whether it was written since this process began: what happened before is not this build's. */
function isRecent(folder: string, path: string): boolean {
  return (statSync(join(folder, path), { throwIfNoEntry: false })?.ctimeMs ?? 0) >= performance.timeOrigin
}

function list(paths: readonly string[]): string {
  const rest = paths.length - 3
  return paths.slice(0, 3).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}
