import { realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type { BigIntStats } from 'node:fs'
import { contentCodings, isSourceMap, pathProblem, servingFiles } from '@serve-dist/manifest'
import { decideResource } from '../site/decide.ts'
import { plainResource } from '../site/plain-resource.ts'
import {
  changeTimeOf,
  closeDescriptor,
  fingerprintOf,
  openRegularFile,
  realPathOf,
} from '../files/open-regular-file.ts'
import { isServerOutput, selectionOf } from '../judge/compare-folder.ts'
import type { RequestFields } from '../protocol/request-fields.ts'
import { parseRequestPath } from '../protocol/request-path.ts'
import type { Answer, Resource, Site } from '../site/site.ts'

/**
 * Answers an unknown path from the disk, for files that appear after the start. This includes pages without
 * `.html`. It serves regular files inside the build's folder and follows links. It excludes dotfiles and
 * files that the build excludes. Clients must always revalidate them.
 */
export async function findOnDisk(site: Site, request: RequestFields): Promise<Answer | undefined> {
  const path = pathInBuild(site, request.target)
  if (path === undefined) return undefined
  for (const file of filesNamed(path)) {
    if (pathProblem(file) !== undefined || isOurs(site, file)) continue
    const resource = await describeOnDisk(site, file)
    if (resource !== undefined) return decideResource(resource, request)
  }
  return undefined
}

/** Returns the candidates for a path: the file itself, or the page with this canonical path. */
function filesNamed(path: string): readonly string[] {
  return path === '' || path.endsWith('/') ? [`${path}index.html`] : [path, `${path}.html`]
}

async function describeOnDisk(site: Site, path: string): Promise<Resource | undefined> {
  const named = join(site.directory, path)
  try {
    const opened = await openRegularFile(named)
    try {
      // Check the file that was opened, because links may change at any time.
      const [root, file] = await Promise.all([realpath(site.directory), realPathOf(opened, named)])
      if (file?.startsWith(root + sep) !== true || !isServed(site, path, { root, file })) return undefined
      return describeFile(site, path, { file, stats: opened.stats })
    } finally {
      await closeDescriptor(opened.descriptor)
    }
  } catch {
    // Missing and unreadable files are unknown paths.
    return undefined
  }
}

/** Returns whether the build's rules permit a file, by its requested path and by its real path. */
function isServed(
  site: Site,
  path: string,
  { root, file }: { readonly root: string; readonly file: string },
): boolean {
  const inside = file
    .slice(root.length + 1)
    .split(sep)
    .join('/')
  const isSelected = selectionOf(site.selection)
  return (
    pathProblem(inside) === undefined && isSelected(path) && isSelected(inside) && !isOfServer(root, inside)
  )
}

/** Returns whether the file is in a subfolder with the server part of a build. */
function isOfServer(root: string, path: string): boolean {
  const parents = path.split('/').slice(0, -1)
  return parents.some((_name, index) => isServerOutput(join(root, ...parents.slice(0, index + 1))))
}

/**
 * Returns the decoded path relative to the build's folder, or `undefined` if no file can have this path.
 */
function pathInBuild(site: Site, target: string): string | undefined {
  const parsed = parseRequestPath(target)
  if (parsed === 'malformed' || parsed === 'unclean' || !parsed.path.startsWith(site.base)) return undefined
  return /%2F|%5C/.test(parsed.path) ? undefined : decodeURIComponent(parsed.path.slice(site.base.length))
}

/** Returns whether a file is a variant or configures the server; both must not be served. */
function isOurs(site: Site, path: string): boolean {
  if (servingFiles.has(path) || (site.sourceMaps === 'deny' && isSourceMap(path))) return true
  return contentCodings.some(({ name, extension }) => {
    if (!path.endsWith(extension)) return false
    // The table may hide the original because of a rule.
    const original = site.files.get(path.slice(0, -extension.length))
    return original?.representations.some(({ coding }) => coding === name) === true
  })
}

interface FoundFile {
  /** The real path. */
  readonly file: string
  readonly stats: BigIntStats
}

function describeFile(site: Site, path: string, { file, stats: found }: FoundFile): Resource {
  const size = Number(found.size)
  const bytes = {
    file,
    size,
    fingerprint: fingerprintOf(found),
    changeTime: changeTimeOf(found),
    sha256: undefined,
    body: undefined,
  }
  // A weak tag, because two writes within one tick of the clock look alike.
  const entityTag = `W/"${size.toString(36)}-${found.mtimeNs.toString(36)}"`
  return plainResource({ path, bytes, entityTag }, site.fieldRules, decodeURIComponent(site.base))
}
