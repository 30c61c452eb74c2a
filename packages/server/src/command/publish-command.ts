import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { groupDigits } from '@serve-dist/foundation/text/group-digits'
import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { escapeMessage } from '@serve-dist/foundation/text/escape-invisible'
import { formatBytes } from '@serve-dist/foundation/text/byte-size'
import { carriedListPath, manifestPath } from '@serve-dist/manifest'
import { readManifestFile } from '@serve-dist/manifest/read-build-manifest'
import { createProgressLine } from '@serve-dist/foundation/terminal/create-progress-line'
import { terminalWidth } from '@serve-dist/foundation/terminal/wrap-text'
import type { DeltaProgress, PublishProgress } from '@serve-dist/store'
import type { ExportSummary } from '../export/export-site.ts'
import { loadProtectedSite } from '../load/load-site.ts'
import { readRules } from '../rules/read-rules.ts'
import { formatPublish } from './format-publish.ts'
import { findCurrent, type OpenedStore, openStoreForCommand } from './open-store-for-command.ts'
import { runInterruptibly } from './run-interruptibly.ts'
import { retentionOf } from './retention-of.ts'
import type { PublishFlags } from './store-flags.ts'
import { writeCommandResult } from './write-command-result.ts'

export async function publishCommand(directory: string, flags: PublishFlags): Promise<void> {
  const exporting = flags.dryRun === true ? undefined : flags.export
  if (exporting !== undefined) {
    const { prepareExportFolder } = await import('../export/export-site.ts')
    await prepareExportFolder(exporting)
  }
  const opened = await openStoreForCommand('publish', flags.store)
  const { store, library } = opened
  const line = createProgressLine(process.stderr, 'uploading', 'objects')
  const deltaLine = createProgressLine(process.stderr, 'encoding', 'deltas')
  const work = async (signal: AbortSignal): Promise<void> => {
    const summary = await library
      .publish(directory, store, {
        retention: retentionOf(flags),
        makesDeltas: flags.noDeltas !== true,
        isDryRun: flags.dryRun,
        isForced: flags.force,
        isSinglePublisher: flags.singlePublisher,
        isVerified: flags.verify,
        ...(flags.dryRun !== true && {
          onProgress: ({
            blobs: files,
            allBlobs: totalFiles,
            bytes,
            allBytes: totalBytes,
          }: PublishProgress) => line.update({ files, totalFiles, bytes, totalBytes }),
          onDelta({ deltas: files, allDeltas: totalFiles, bytes, allBytes: totalBytes }: DeltaProgress) {
            line.clear()
            deltaLine.update({ files, totalFiles, bytes, totalBytes })
          },
        }),
        signal,
      })
      .finally(() => {
        line.clear()
        deltaLine.clear()
      })
    const exported = await exportPublished(flags)
    const warnings = [...summary.warnings, ...describeCarried(directory)]
    const outcome = {
      store: store.place,
      ...summary,
      warnings: [...warnings, ...(exported?.left ?? [])],
      ...(exported !== undefined && { export: exported }),
    }
    writeCommandResult(flags, outcome, () => {
      const lines = [
        formatPublish(summary, store.place, terminalWidth(process.stdout)),
        ...(exported === undefined ? [] : [formatExport(exported)]),
      ]
      return escapeMessage(lines.join('\n'))
    })
  }
  await runInterruptibly(work, (signal) => describeStopped(directory, opened, signal))
}

/** Returns a warning about files of earlier builds, which the store keeps itself. */
function describeCarried(directory: string): readonly string[] {
  const list = join(directory, carriedListPath)
  return existsSync(list) ? [`${list}: the files that serve-dist carry added are not published`] : []
}

/** Exports the answers of a server of this store, with the rules from the working directory. */
async function exportPublished({
  store,
  dryRun,
  export: folder,
}: PublishFlags): Promise<ExportSummary | undefined> {
  if (folder === undefined || store === undefined || dryRun === true) return undefined
  const { exportSite } = await import('../export/export-site.ts')
  try {
    const rules = await readRules(process.cwd(), {})
    return await exportSite(await loadProtectedSite({ store }, { rules, memoryBudget: 0 }), folder)
  } catch (error) {
    process.stderr.write('serve-dist: the build is published and current, but the export failed:\n')
    throw error
  }
}

function formatExport({ folder, files, kept, variants, size }: ExportSummary): string {
  return `  exported to ${folder}: ${pluralize(files, 'file')} (${groupDigits(kept)} from earlier builds) and ${pluralize(variants, 'variant')}, ${formatBytes(size)}`
}

async function describeStopped(directory: string, opened: OpenedStore, signal: AbortSignal): Promise<string> {
  const { id, state } = await findCurrent(opened, signal)
  if (id === undefined) return `${state}, as before.`
  const { buildId } = await readManifestFile(join(directory, manifestPath))
  return id === buildId
    ? `${state}. The next publish deletes old builds.`
    : `${state} as before. Publish again to upload the missing files.`
}
