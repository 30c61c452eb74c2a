import { groupDigits } from '@serve-dist/foundation/text/group-digits'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { formatBytes } from '@serve-dist/foundation/text/byte-size'
import { terminalWidth, wrapText } from '@serve-dist/foundation/terminal/wrap-text'
import { manifestMissing, manifestPath, OperatorError } from '@serve-dist/manifest'
import { checkFolder } from '../check/check-folder.ts'
import { checkSite } from '../check/check-site.ts'
import type { CheckReport } from '../check/finding.ts'
import { formatReport, formatReportAsJson } from '../check/format-report.ts'
import type { LoadSiteOptions } from '../load/load-options.ts'
import { loadSiteToInspect } from '../load/load-site.ts'
import { readRulesAsServed } from '../rules/read-rules.ts'
import { defaultDirectory } from '../serve/serve-options.ts'
import type { CheckFlags } from './flags.ts'
import type { ResolvedAddress } from './flag-values.ts'
import { readAddress, urlOfHost } from './read-address.ts'

/**
 * Checks a folder or a site and prints the report.
 *
 * @returns the exit code: 1 if there are errors or the check could not finish.
 */
export async function checkCommand(target: string, flags: CheckFlags): Promise<0 | 1> {
  const isAddress = /^https?:\/\//i.test(target)
  const report = isAddress
    ? await checkAddress(target, flags)
    : await checkFolder(onlyFolder(target, flags), {
        load: startOptionsOf(flags),
        hasApplication: flags.ssr !== undefined,
      })
  const { stdout } = process
  const text =
    flags.json === true
      ? formatReportAsJson(report)
      : formatReport(report, {
          colors: stdout.isTTY && stdout.hasColors(),
          columns: terminalWidth(stdout),
        })
  stdout.write(`${text}\n`)
  const isBad = report.stopped !== undefined || report.findings.some(({ level }) => level === 'error')
  return isBad ? 1 : 0
}

/** The number of parallel requests. A higher number could overload the site. */
const concurrency = 4

/** Flags that have an effect only for a site. */
const forAddresses = ['build', 'all', 'header', 'resolve', 'insecure'] as const

function onlyFolder(folder: string, flags: CheckFlags): string {
  const url = urlOfHost(folder)
  if (url !== undefined && !existsSync(folder))
    throw new OperatorError('SD_OPTION_INVALID', `${folder}: no such folder. To check a site, write ${url}`)
  const given = forAddresses.filter((name) => flags[name] !== undefined).map((name) => `--${name}`)
  if (given.length === 0) return folder
  throw new OperatorError(
    'SD_OPTION_INVALID',
    `${given.join(', ')}: only for the check of a site, such as "npx serve-dist check https://example.org". ${folder} is a folder.`,
  )
}

async function startOptionsOf(flags: CheckFlags): Promise<Pick<LoadSiteOptions, 'rules' | 'envFile'>> {
  const { envFile } = flags
  return { rules: await readRulesAsServed(flags), ...(envFile !== undefined && { envFile }) }
}

async function checkAddress(target: string, flags: CheckFlags): Promise<CheckReport> {
  const { build = defaultDirectory, all = false, header = [], insecure = false, resolve } = flags
  const load = await startOptionsOf(flags)
  const address = readAddress(target)
  // Only the manifest says which codings the site should serve.
  if (existsSync(build) && !existsSync(join(build, manifestPath))) throw manifestMissing(build)
  // A check of the folder reports its warnings.
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
      const files = `${groupDigits(plan.targets.length)} of ${pluralize(plan.files, 'file')}`
      const cost = `up to ${pluralize(requests, 'request')}, ${formatBytes(plan.bytes)}, ${concurrency} at a time`
      const line = `checking ${address.href} with ${files} of ${build}: ${cost}`
      stderr.write(`${wrapText(line, terminalWidth(stderr))}\n`)
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

function addressFor(
  { hostname, port, protocol }: URL,
  resolve: ResolvedAddress | undefined,
): string | undefined {
  if (resolve === undefined) return undefined
  const used = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
  if (resolve.host === hostname && resolve.port === used) return resolve.address
  throw new OperatorError(
    'SD_OPTION_INVALID',
    `--resolve names ${resolve.host}:${resolve.port}, but the site is ${hostname}:${used}. Write ${hostname}:${used}:${resolve.address}`,
  )
}
