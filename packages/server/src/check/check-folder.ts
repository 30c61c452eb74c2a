import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { isSourceMap, loadOptional, OperatorError } from '@serve-dist/manifest'
import type { LoadSiteOptions } from '../load/load-options.ts'
import { loadProtectedSite, loadSiteToInspect } from '../load/load-site.ts'
import { fallbackFor } from '../site/decide.ts'
import { isProxying } from '../site/redirects.ts'
import type { Site } from '../site/site.ts'
import { type CheckReport, type Finding, sortFindings, formatNames } from './finding.ts'
import { findAbsentFiles } from './find-absent-files.ts'
import { findSecretFiles } from './secret-files.ts'

/**
 * Finds faults in a folder. It first reports the errors and warnings of a start, with every digest verified. Then it
 * looks for faults that a start does not report.
 */
export async function checkFolder(directory: string, options: CheckFolderOptions): Promise<CheckReport> {
  const findings: Finding[] = []
  const right: string[] = []
  const site = await loadWithFindings(directory, options.load, findings)
  if (site !== undefined && findings.length === 0)
    right.push(`${pluralize(site.summary.files, 'file')} accepted by the server`)
  // The names of files can be checked even if the server would not start.
  const seen = [await checkSecrets(directory, site)]
  if (site !== undefined) {
    for (const look of [checkSourceMaps, checkNotFoundPage, checkPages, checkProxies])
      seen.push(await look(site, options))
  }
  for (const found of seen) {
    if ('right' in found) right.push(found.right)
    else findings.push(...found)
  }
  return { target: directory, findings: sortFindings(findings), right }
}

/** How the server would be started. */
export interface CheckFolderOptions {
  readonly load: StartOptions | Promise<StartOptions>
  /** Whether an application answers paths that the build lacks (`--ssr`). */
  readonly hasApplication: boolean
}

type StartOptions = Pick<LoadSiteOptions, 'rules' | 'unlisted' | 'noManifest' | 'envFile'>

/** Findings, or an aspect without findings. */
type CheckOutcome = readonly Finding[] | { readonly right: string }

async function loadWithFindings(
  directory: string,
  options: CheckFolderOptions['load'],
  findings: Finding[],
  load: typeof loadSiteToInspect = loadProtectedSite,
): Promise<Site | undefined> {
  const before = findings.length
  const onWarning = (text: string): void => {
    findings.push({ code: 'start-warns', level: 'warning', text, paths: [] })
  }
  try {
    return await load(directory, { ...(await options), verify: 'hash', memoryBudget: 0, onWarning })
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    const { code, message } = error
    // The machine that checks may lack the values of the one that serves.
    if (code === 'SD_ENVIRONMENT_INVALID' && load !== loadSiteToInspect) {
      const text = `without the values of this environment, the server would not start:\n${message}`
      // The next attempt warns again.
      findings.splice(before, Infinity, { code: 'environment-missing', level: 'warning', text, paths: [] })
      return await loadWithFindings(directory, options, findings, loadSiteToInspect)
    }
    findings.push({ code, level: 'error', text: `${code}: ${message}`, paths: [] })
    if (code !== 'SD_PAGES_UNLISTED') return undefined
    // The rest of the folder can be checked.
    return await loadWithFindings(directory, { ...(await options), unlisted: 'ignore' }, findings, load)
  }
}

async function checkSecrets(directory: string, site: Site | undefined): Promise<CheckOutcome> {
  const secrets = await findSecretFiles(directory)
  const isServed = (path: string): boolean => site?.files.has(path) === true
  const served = secrets.filter(isServed)
  const unserved = secrets.filter((path) => !isServed(path))
  if (secrets.length === 0) return site === undefined ? [] : { right: 'no file with the name of a secret' }
  return [
    ...finding(
      'secret-served',
      'error',
      served,
      (names) =>
        `the server would send files with names of secrets (${names}). All visitors could read them. Remove them from the build. If it was deployed, replace the secrets.`,
    ),
    ...finding(
      'secret-in-folder',
      'warning',
      unserved,
      (names) =>
        `the folder contains files with names of secrets (${names}). serve-dist does not serve them, but other servers may. Remove them from the build.`,
    ),
  ]
}

async function checkSourceMaps({ files, sourceMaps }: Site): Promise<CheckOutcome> {
  const maps = sourceMaps === 'deny' ? [] : [...files.keys()].filter(isSourceMap)
  if (maps.length === 0) return { right: 'no public source map' }
  return finding(
    'source-maps-public',
    'warning',
    maps,
    (names) =>
      `source maps (${names}) are public. All visitors can read the sources. To prevent this, set sourceMaps: 'deny' in serve-dist.config.json.`,
  )
}

async function checkNotFoundPage(site: Site, { hasApplication }: CheckFolderOptions): Promise<CheckOutcome> {
  const { redirects } = site
  const isWanted =
    !hasApplication &&
    !redirects.some((rule) => isProxying(rule) && rule.from === '/*') &&
    fallbackFor(site, 'standalone', undefined) !== 'spa' &&
    [...site.files.values()].some(({ isPage }) => isPage)
  if (!isWanted || site.notFound !== undefined)
    return { right: isWanted ? '404.html' : 'a page for unknown paths' }
  return finding(
    'no-404-page',
    'warning',
    ['404.html'],
    () =>
      'there is no 404.html. Visitors of an unknown path see one line of plain text. Add the page to the build (public/404.html).',
  )
}

async function checkProxies({ redirects }: Site): Promise<CheckOutcome> {
  const proxied = redirects.filter(isProxying).map(({ from }) => from)
  return proxied.length === 0 ? [] : { right: `proxied paths: ${formatNames(proxied)}` }
}

async function checkPages(site: Site, { hasApplication }: CheckFolderOptions): Promise<CheckOutcome> {
  try {
    const needed = { name: '@serve-dist/precompress', neededBy: 'reading pages' }
    const { filesOfPage } = await loadOptional(needed, async () => await import('@serve-dist/precompress'))
    const absent = await findAbsentFiles(site, { filesOfPage, hasApplication })
    if (absent.length === 0) return { right: 'all files that pages name' }
    const name = ({ page, url }: (typeof absent)[number]): string => `${url} in ${page}`
    return [
      ...finding(
        'page-needs-missing',
        'error',
        absent.filter(({ isNeeded }) => isNeeded).map(name),
        (names) =>
          `pages name missing scripts or styles (${names}). These pages do not work or look wrong. Build again, or fix the URLs and the base.`,
      ),
      ...finding(
        'page-names-missing',
        'warning',
        absent.filter(({ isNeeded }) => !isNeeded).map(name),
        (names) =>
          `pages name missing files (${names}). Each visit requests them for nothing. Add them to the build, or remove them from the pages.`,
      ),
    ]
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    return [{ code: error.code, level: 'warning', text: error.message, paths: [] }]
  }
}

function finding(
  code: string,
  level: Finding['level'],
  paths: readonly string[],
  say: (names: string) => string,
): Finding[] {
  return paths.length === 0 ? [] : [{ code, level, paths, text: say(formatNames(paths)) }]
}
