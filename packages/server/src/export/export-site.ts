import { replaceFile } from '@serve-dist/foundation/files/replace-file'
import { OperatorError, variantPath } from '@serve-dist/manifest'
import { isNotFoundError } from '@serve-dist/foundation/files/file-error'
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Site } from '../site/site.ts'
import type { HostConfiguration } from './host-configuration.ts'
import { nginxConfiguration } from './nginx-configuration.ts'
import { type ExportedFile, planExport } from './plan-export.ts'
import { cloudflarePages, netlify } from './page-host.ts'
import { pagesFolder } from './pages-folder.ts'
import { type FileToWrite, linkFiles, writeFiles } from './write-files.ts'

/** What was written. */
export interface ExportSummary {
  readonly folder: string
  /** Files of the build and kept ones, without variants. */
  readonly files: number
  /** Hashed files of earlier builds among them. */
  readonly kept: number
  readonly variants: number
  /** In bytes. */
  readonly size: number
  /** What a host cannot be told, with the host's name before it. */
  readonly left: readonly string[]
}

/** The mark by which a folder is known as ours; it is whole where the mark has a number. */
const markName = 'export.json'

interface Mark {
  readonly version: 1
  /** Counts up; of the folder below `builds/`. */
  readonly number: number
  readonly buildId?: string
}

/**
 * Writes a folder for hosts that only know files, each with a configuration made of the same table as our own answers.
 * An earlier export stays whole until this one is: files lie in a folder of their own, which one rename puts in.
 *
 * @throws OperatorError (`SD_FOLDER_WRONG`) for a folder that holds anything but an earlier export.
 */
export async function exportSite(site: Site, folder: string): Promise<ExportSummary> {
  const root = resolve(folder)
  const before = await readMark(root)
  const number = before.number + 1
  const build = `builds/${number}`
  const plan = planExport(site)
  const taken = new Set(plan.files.map(({ place }) => place))
  const files = plan.files.flatMap((file) => filesOf(file, taken))

  const nginx = nginxConfiguration(plan, build)

  const pages = [netlify, cloudflarePages].map((host) => pagesFolder(plan, host))

  await mkdir(join(root, 'builds'), { recursive: true })
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
      // Hosts make entity tags of time and size: variants of one size are a second apart.
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
 * Hosts make validators of a file's time and size. Where the times of a build tell nothing, a time is made of the digest:
 * the same name with other bytes must not have the same validator.
 */
function timeOf({ lastModified, identity }: ExportedFile['resource']): number {
  if (lastModified !== undefined) return lastModified / 1000
  const digest = Buffer.from(identity.entityTag.slice(1, -1), 'base64url')
  // Of some eight years, so that none is later than now.
  return Date.UTC(2000, 0, 1) / 1000 + (digest.readUInt32BE(0) >>> 4)
}

async function readMark(root: string): Promise<Mark> {
  const text = await readFile(join(root, markName), 'utf8').catch(() => undefined)
  if (text !== undefined) {
    const mark = parseMark(text)
    if (mark !== undefined) {
      await refuseRemovedHosts(root)
      return mark
    }
  }
  const found = await readdir(root).catch((error: unknown) => {
    if (isNotFoundError(error)) return []
    throw new OperatorError('SD_FOLDER_WRONG', `${root}: not a folder that can be read`, { cause: error })
  })
  if (found.length === 0) return { version: 1, number: 0 }
  throw new OperatorError(
    'SD_FOLDER_WRONG',
    `${root}: the folder is not empty, and nothing in it says that an export wrote it; name an empty folder, or a new one`,
  )
}

/** Earlier versions wrote for Caddy and Apache, too: their configurations would name files that the next exports delete. */
async function refuseRemovedHosts(root: string): Promise<void> {
  if (!(await readdir(root)).includes('Caddyfile')) return
  throw new OperatorError(
    'SD_FOLDER_WRONG',
    `${root}: the folder has an export for Caddy and Apache, which are no longer supported; nginx, Netlify and Cloudflare Pages are. Delete ${join(root, 'Caddyfile')}, or name a new folder.`,
  )
}

function parseMark(text: string): Mark | undefined {
  try {
    const mark: unknown = JSON.parse(text)
    const isMark = typeof mark === 'object' && mark !== null && 'version' in mark && 'number' in mark
    return isMark && mark.version === 1 && Number.isSafeInteger(mark.number)
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

/** Uses one temporary name for each file, so that an export replaces what a killed one left. */
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

/** The build before stays: a host may not have been reloaded yet. */
async function removeOlder(root: string, number: number): Promise<void> {
  for (const name of await readdir(join(root, 'builds'))) {
    if (name !== String(number) && name !== String(number - 1)) {
      await rm(join(root, 'builds', name), { recursive: true, force: true })
    }
  }
}
