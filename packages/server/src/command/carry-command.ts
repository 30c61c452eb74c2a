import { createProgressLine } from '@serve-dist/foundation/terminal/create-progress-line'
import { formatBytes } from '@serve-dist/foundation/text/byte-size'
import { escapeMessage } from '@serve-dist/foundation/text/escape-invisible'
import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { OperatorError } from '@serve-dist/manifest'
import type { DeltaProgress } from '@serve-dist/store'
import { carry } from '../carry/carry.ts'
import { siteUnavailable } from '../carry/site-errors.ts'
import type { CarriedDeltas } from '../carry/make-carried-deltas.ts'
import { printWarning } from '../load/load-options.ts'
import { formatDeltas } from './format-deltas.ts'
import { isLoopbackHost } from '../protocol/is-loopback-host.ts'
import { readAddress } from './read-address.ts'
import { retentionOf } from './retention-of.ts'
import { runInterruptibly } from './run-interruptibly.ts'
import type { CarryFlags } from './store-flags.ts'

/** Adds the hashed files of a running site to a new build. */
export async function carryCommand(url: string, directory: string, flags: CarryFlags): Promise<void> {
  const address = readAddress(url)
  requireEncryption(address)
  const fields = Object.fromEntries(flags.header ?? [])
  const line = createProgressLine(process.stderr, 'carrying', 'objects')
  const deltaLine = createProgressLine(process.stderr, 'encoding', 'deltas')
  const work = async (signal: AbortSignal): Promise<void> => {
    const summary = await carry(directory, {
      address,
      fields,
      retention: retentionOf(flags),
      signal,
      onProgress: line.update.bind(line),
      makesDeltas: flags.noDeltas !== true,
      onDelta({ deltas: files, allDeltas: totalFiles, bytes, allBytes: totalBytes }: DeltaProgress) {
        line.clear()
        deltaLine.update({ files, totalFiles, bytes, totalBytes })
      },
      onWarning,
    }).finally(() => {
      line.clear()
      deltaLine.clear()
    })
    if (summary === undefined) {
      process.stdout.write(`nothing to carry: ${address.origin} has no list of hashed files\n`)
      return
    }
    const { builds, files, bytes, downloadedBytes, isSameBuild, deltas } = summary
    for (const warning of deltas?.warnings ?? []) onWarning(warning)
    if (builds === 0) {
      const reason = isSameBuild
        ? 'serves this build, and no earlier ones'
        : 'has no hashed files to add to this build'
      process.stdout.write(`nothing to carry: ${address.origin} ${reason}\n`)
      return
    }
    const from = `${pluralize(files, 'file')} of ${pluralize(builds, 'earlier build')} from ${address.origin}`
    process.stdout.write(
      `carried ${from}: ${formatBytes(bytes)}, ${formatBytes(downloadedBytes)} downloaded\n`,
    )
    if (deltas !== undefined) process.stdout.write(`  deltas: ${describeDeltas(deltas)}\n`)
  }
  try {
    await runInterruptibly(work, async () => 'the folder is unchanged. Run the command again to continue.')
  } catch (error) {
    const isAway = error instanceof OperatorError && error.code === 'SD_SITE_UNAVAILABLE'
    if (!isAway) throw error
    if (flags.ifPossible !== true)
      throw siteUnavailable(
        `${error.message} --if-possible lets the command succeed without the site.`,
        error,
      )
    process.stderr.write(`serve-dist: warning: nothing carried: ${escapeMessage(error.message)}\n`)
  }
}

function describeDeltas({ summary, download }: CarriedDeltas): string {
  const { bytes = 0, bytesWithDeltas } = download ?? {}
  const made = formatDeltas(summary)
  if (bytesWithDeltas === undefined) return made
  return `${made}; of hashed files, returning visitors download at most ${formatBytes(bytesWithDeltas)} instead of ${formatBytes(bytes)} (Chromium)`
}

/** Rejects plain HTTP, except to this machine: a network could replace files and their digests. */
function requireEncryption({ protocol, hostname, origin }: URL): void {
  if (protocol === 'https:') return
  if (protocol === 'http:' && isLoopbackHost(hostname)) return
  throw new OperatorError(
    'SD_OPTION_INVALID',
    `${origin}: expected an address with https://. http:// is only for this machine, because others could change the files.`,
  )
}

function onWarning(text: string): void {
  printWarning(escapeMessage(text))
}
