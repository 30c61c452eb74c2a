import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { formatBytes } from '@serve-dist/foundation/text/byte-size'
import { manifestMissing, manifestPath, OperatorError } from '@serve-dist/manifest'
import { checkFolder, type CheckFolderOptions } from '../check/check-folder.ts'
import { checkSite } from '../check/check-site.ts'
import type { CheckReport } from '../check/finding.ts'
import { formatReport, formatReportAsJson } from '../check/format-report.ts'
import { loadSiteToInspect } from '../load/load-site.ts'
import { readRulesAsServed } from '../rules/read-rules.ts'
import { defaultDirectory } from '../serve/serve-options.ts'
import type { CheckFlags } from './flags.ts'
import type { ResolvedAddress } from './flag-values.ts'

/**
 * Checks a folder, or a site by its address, and prints the report.
 *
 * @returns the exit code: 1 on errors, and where nothing could be checked.
 */
export async function checkCommand(target: string, flags: CheckFlags): Promise<0 | 1> {
  const { ssr, envFile } = flags
  const load = { rules: await readRulesAsServed(flags), ...(envFile !== undefined && { envFile }) }
  const report = /^https?:\/\//i.test(target)
    ? await checkAddress(target, flags, load)
    : await checkFolder(onlyFolder(target, flags), { load, hasApplication: ssr !== undefined })
  const { stdout } = process
  const text =
    flags.json === true
      ? formatReportAsJson(report)
      : formatReport(report, {
          colors: stdout.isTTY && stdout.hasColors(),
          // Some pseudo-terminals say that they have none.
          columns: stdout.isTTY && stdout.columns > 40 ? stdout.columns : undefined,
        })
  stdout.write(`${text}\n`)
  const isBad = report.stopped !== undefined || report.findings.some(({ level }) => level === 'error')
  return isBad ? 1 : 0
}

/** How many requests run at a time; more could overload the site. */
const concurrency = 4

/** Flags that mean something beside an address alone. */
const forAddresses = ['build', 'all', 'header', 'resolve', 'insecure'] as const

/** `example.org`, `localhost:4173`. */
const looksLikeHost = /^(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:\/|$)/

function onlyFolder(folder: string, flags: CheckFlags): string {
  if (looksLikeHost.test(folder) && !existsSync(folder))
    throw new OperatorError('SD_OPTION_INVALID', `${folder}: no such folder; a site is https://${folder}`)
  const given = forAddresses.filter((name) => flags[name] !== undefined).map((name) => `--${name}`)
  if (given.length === 0) return folder
  throw new OperatorError(
    'SD_OPTION_INVALID',
    `${given.join(', ')}: only with an address, such as https://example.org; found the folder ${folder}`,
  )
}

async function checkAddress(
  target: string,
  { build = defaultDirectory, all = false, header = [], insecure = false, resolve }: CheckFlags,
  load: CheckFolderOptions['load'],
): Promise<CheckReport> {
  const address = readAddress(target)
  // Without a manifest nobody knows which codings there are.
  if (existsSync(build) && !existsSync(join(build, manifestPath))) throw manifestMissing(build)
  // What it warns of is the folder's own, and its check says it.
  const site = await loadSiteToInspect(build, { ...load, memoryBudget: 0, onWarning: () => {} })
  const { stderr } = process
  let requests = 0
  let drawnAt = 0
  const erase = stderr.isTTY ? '\r\u001B[2K' : ''
  const report = await checkSite(address, site, {
    all,
    fields: Object.fromEntries(header),
    address: addressFor(address, resolve),
    insecure,
    concurrency,
    onPlan(plan) {
      requests = plan.requests
      const files = `${plan.targets.length} of ${pluralize(plan.files, 'file')}`
      const cost = `up to ${pluralize(requests, 'request')}, ${formatBytes(plan.bytes)}, ${concurrency} at a time`
      stderr.write(`asking ${address.href} for ${files} of ${build}: ${cost}\n`)
    },
    onProgress(done) {
      const now = performance.now()
      if (!stderr.isTTY || now - drawnAt < 100) return
      drawnAt = now
      stderr.write(`${erase}${done}/${requests} requests`)
    },
  }).finally(() => stderr.write(erase))
  return report
}

function readAddress(text: string): URL {
  const address = URL.canParse(text) ? new URL(text) : undefined
  const extra = address && address.username + address.password + address.search + address.hash
  if (address !== undefined && extra === '') return address
  throw new OperatorError(
    'SD_OPTION_INVALID',
    `${text.replace(/\/\/[^/]*@/, '//…@')}: expected an address without query, fragment and password, such as https://example.org/app/`,
  )
}

function addressFor(
  { hostname, port, protocol }: URL,
  resolve: ResolvedAddress | undefined,
): string | undefined {
  if (resolve === undefined) return undefined
  const used = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
  if (resolve.host === hostname && resolve.port === used) return resolve.address
  throw new OperatorError(
    'SD_OPTION_INVALID',
    `--resolve: is about ${resolve.host}:${resolve.port}, and ${hostname}:${used} is asked; write ${hostname}:${used}:${resolve.address}`,
  )
}
