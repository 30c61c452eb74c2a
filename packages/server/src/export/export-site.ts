import { replaceFile } from '@serve-dist/foundation/files/replace-file'
import { OperatorError, variantPath } from '@serve-dist/manifest'
import { isNotFoundError, reasonOf } from '@serve-dist/foundation/files/file-error'
import { makeFolder } from '@serve-dist/foundation/files/make-folder'
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Site } from '../site/site.ts'
import type { HostConfiguration } from './host-configuration.ts'
import { nginxConfiguration } from './nginx-configuration.ts'
import { type ExportedFile, planExport } from './plan-export.ts'
import { cloudflarePages, netlify } from './page-host.ts'
import { pagesFolder } from './pages-folder.ts'
import { type FileToWrite, linkFiles, writeFiles } from './write-files.ts'

export interface ExportSummary {
  readonly folder: string
  /** The number of files of the build and of earlier builds, without variants. */
  readonly files: number
  /** The number of hashed files of earlier builds. */
  readonly kept: number
  readonly variants: number
  readonly size: number
  /** The features that hosts do not support, each with the name of the host. */
  readonly left: readonly string[]
}

/** The file that marks a folder as an export. The export is complete if the file has a build id. */
const markName = 'export.json'

interface Mark {
  readonly version: 1
  /** The number of the folder below `builds/`. Each export increases it. */
  readonly number: number
  readonly buildId?: string
}

/**
 * Writes a folder for hosts that only serve files, with a configuration for each host. The configurations come from the
 * table that the server answers from. The earlier export stays complete until a rename replaces it.
 *
 * @throws OperatorError (`SD_FOLDER_WRONG`) if the folder contains anything except an earlier export, or
 * `SD_WRITE_FAILED`.
 */
export async function exportSite(site: Site, folder: string): Promise<ExportSummary> {
  const down = site.redirects.find(({ status }) => status === 503)
  if (down !== undefined) {
    throw new OperatorError(
      'SD_OPTION_INVALID',
      `redirects: the rule of ${down.from} has status 503, and static hosts would export a site in maintenance. Remove the rule first.`,
    )
  }
  if (site.basicAuth !== undefined) {
    throw new OperatorError(
      'SD_OPTION_INVALID',
      'basicAuth: static hosts would publish the protected files. Remove the rule, or do not export this build.',
    )
  }
  const root = resolve(folder)
  return await writeExport(site, root).catch((error: unknown) => {
    throw writeFailure(root, error)
  })
}

/**
 * Creates the folder of an export if it is missing.
 *
 * @throws OperatorError if an export to this folder would fail.
 */
export async function prepareExportFolder(folder: string): Promise<void> {
  const root = resolve(folder)
  await makeFolder(root).catch((error: unknown) => {
    throw writeFailure(root, error)
  })
  await readMark(root)
}

function writeFailure(root: string, error: unknown): unknown {
  if (error instanceof OperatorError || !(error instanceof Error && 'syscall' in error)) return error
  const problem = `${root}: cannot write the export (${error.message}). Free space on the disk, or name a folder that this user can write to.`
  return new OperatorError('SD_WRITE_FAILED', problem, { cause: error })
}

async function writeExport(site: Site, root: string): Promise<ExportSummary> {
  const before = await readMark(root)
  const number = before.number + 1
  const build = `builds/${number}`
  const plan = planExport(site)
  const taken = new Set(plan.files.map(({ place }) => place))
  const files = plan.files.flatMap((file) => filesOf(file, taken))

  const nginx = nginxConfiguration(plan, build)

  const pages = [netlify, cloudflarePages].map((host) => pagesFolder(plan, host))

  await makeFolder(join(root, 'builds'))
  if (before.buildId === undefined) await placeText(root, markName, stringifyMark(before))
  const aside = join(root, `${build}.part`)
  await rm(aside, { recursive: true, force: true })
  await rm(join(root, build), { recursive: true, force: true })
  await writeFiles(aside, files)
  await rename(aside, join(root, build))
  for (const { folder: name, places, texts } of pages) {
    const next = join(root, `${name}.part`)
    await rm(next, { recursive: true, force: true })
    await linkFiles(join(root, build), next, places)
    await writeTexts(next, texts)
    await rm(join(root, name), { recursive: true, force: true })
    await rename(next, join(root, name))
  }
  await replaceLink(root, 'public', build)
  await placeText(root, 'nginx.conf', nginx.text)
  await placeText(root, markName, stringifyMark({ version: 1, number, buildId: site.buildId }))
  await removeOlder(root, number)
  const kept = plan.files.filter(({ resource }) => resource.buildId !== undefined).length
  return {
    folder: root,
    files: plan.files.length,
    kept,
    variants: files.length - plan.files.length,
    size: files.reduce((sum, { representation }) => sum + representation.bytes.size, 0),
    left: [...said('nginx', nginx), ...pages.flatMap((each) => said(each.host, each))],
  }
}

function said(host: string, { left }: Pick<HostConfiguration, 'left'>): string[] {
  return left.map((line) => `${host}: ${line}`)
}

function filesOf({ resource, place }: ExportedFile, places: ReadonlySet<string>): FileToWrite[] {
  const time = timeOf(resource)
  const sizes = resource.representations.map(({ bytes }) => bytes.size)
  return resource.representations
    .map((representation, index) => {
      const { bytes, coding } = representation
      // Hosts derive entity tags from time and size, so variants of the same size need different times.
      const alike = sizes.slice(0, index).filter((size) => size === bytes.size).length
      return {
        representation,
        time: time - alike,
        place: coding === 'identity' ? place : variantPath(place, coding),
      }
    })
    .filter((file) => file.representation.coding === 'identity' || !places.has(file.place))
}

/**
 * Returns the modification time of a file, from which hosts derive validators. If the times of the build are fixed, the
 * time is derived from the digest, because other bytes need another validator.
 */
function timeOf({ lastModified, identity }: ExportedFile['resource']): number {
  if (lastModified !== undefined) return lastModified / 1000
  const digest = Buffer.from(identity.entityTag.slice(1, -1), 'base64url')
  // Within about eight years, so that no time is in the future.
  return Date.UTC(2000, 0, 1) / 1000 + (digest.readUInt32BE(0) >>> 4)
}

async function readMark(root: string): Promise<Mark> {
  const found = await readdir(root, { withFileTypes: true }).catch((error: unknown) => {
    if (isNotFoundError(error)) return []
    throw new OperatorError(
      'SD_FOLDER_WRONG',
      `${root}: cannot read this folder (${reasonOf(error)}). Let this user read it, or name a new folder.`,
      { cause: error },
    )
  })
  if (found.length === 0) return { version: 1, number: 0 }
  const isFile = found.some((entry) => entry.name === markName && entry.isFile())
  const mark = isFile ? parseMark(await readFile(join(root, markName), 'utf8')) : undefined
  if (mark === undefined) {
    throw new OperatorError(
      'SD_FOLDER_WRONG',
      `${root}: the folder is not empty and is not an earlier export. Name an empty or new folder.`,
    )
  }
  // An export deletes earlier builds, and must not do this in the folder that a link leads to.
  if (found.some((entry) => entry.name === 'builds' && !entry.isDirectory())) {
    const problem = `${join(root, 'builds')}: it is a link or a file, which an export never creates. Delete it, or name a new folder.`
    throw new OperatorError('SD_FOLDER_WRONG', problem)
  }
  refuseRemovedHosts(root, found)
  return mark
}

/** Refuses folders of earlier versions, whose Caddy and Apache configurations would name files that exports delete. */
function refuseRemovedHosts(root: string, found: readonly { readonly name: string }[]): void {
  if (!found.some(({ name }) => name === 'Caddyfile')) return
  throw new OperatorError(
    'SD_FOLDER_WRONG',
    `${root}: the folder has an export for Caddy and Apache, which are no longer supported. Delete ${join(root, 'Caddyfile')}, or name a new folder.`,
  )
}

function parseMark(text: string): Mark | undefined {
  try {
    const mark: unknown = JSON.parse(text)
    const isMark = typeof mark === 'object' && mark !== null && 'tool' in mark && mark.tool === 'serve-dist'
    const isOurs = isMark && 'version' in mark && mark.version === 1 && 'number' in mark
    return isOurs && Number.isSafeInteger(mark.number)
      ? {
          version: 1,
          number: Number(mark.number),
          ...('buildId' in mark && { buildId: String(mark.buildId) }),
        }
      : undefined
  } catch {
    return undefined
  }
}

function stringifyMark(mark: Mark): string {
  return `${JSON.stringify({ tool: 'serve-dist', ...mark })}\n`
}

async function writeTexts(folder: string, texts: ReadonlyMap<string, string>): Promise<void> {
  for (const [place, text] of texts) {
    await mkdir(dirname(join(folder, place)), { recursive: true })
    await writeFile(join(folder, place), text)
  }
}

/** Replaces a text file. The temporary name is fixed, so that an export also replaces the leftovers of a killed one. */
async function placeText(root: string, name: string, text: string): Promise<void> {
  await replaceFile(join(root, name), text, join(root, `${name}.part`))
}

async function replaceLink(root: string, name: string, target: string): Promise<void> {
  const aside = join(root, `${name}.part`)
  await rm(aside, { force: true })
  await symlink(process.platform === 'win32' ? join(root, target) : target, aside, 'junction')
  if (process.platform === 'win32') await rm(join(root, name), { force: true, recursive: true })
  await rename(aside, join(root, name))
}

/** Removes all builds except the new and the previous one, which a host may still use until it reloads. */
async function removeOlder(root: string, number: number): Promise<void> {
  for (const name of await readdir(join(root, 'builds'))) {
    const isBuild = /^\d+(?:\.part)?$/.test(name)
    if (isBuild && name !== String(number) && name !== String(number - 1)) {
      await rm(join(root, 'builds', name), { recursive: true, force: true })
    }
  }
}
