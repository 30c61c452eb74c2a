import type { Download, Manifest } from '@serve-dist/manifest'
import type { BuildComparison } from '../compare/compare-builds.ts'
import { filesToLoad, sumSizesToLoad } from '../builds/returning-visitor.ts'
import type { SizeChanges } from '../compare/size-change.ts'
import { preferenceCost } from '../builds/preference-cost.ts'
import {
  bySizeColumn,
  type FileKind,
  fileKindOf,
  fileKinds,
  sentCoding,
  sizesOf,
  smallestCoding,
  sumOfKind,
} from '../builds/sizes.ts'
import type { BuildReport } from './create-report.ts'

/** Formats a report as JSON with a line feed at the end. docs/report.md describes every field. */
export function formatJson({ title, build, comparison, download, budgets }: BuildReport): string {
  const document = {
    // Later releases may add fields without a new version.
    version: 1,
    title,
    build: describeBuild(build),
    comparison: comparison === undefined ? null : describeComparison(comparison),
    download: download === undefined ? null : describeDownload(build, download),
    budgets: budgets.map(({ budget, outcome, size, over, files }) => ({
      ...budget,
      outcome,
      size,
      over,
      matched: files,
    })),
  }
  return `${JSON.stringify(document, undefined, 2)}\n`
}

function describeBuild(build: Manifest): unknown {
  const { buildId, base, files } = build
  return {
    buildId,
    base,
    totals: byKind((kind) => sumOfKind(build, kind)),
    preference: preferenceCost(build),
    files: files.map((file) => ({
      path: file.path,
      kind: fileKindOf(file),
      mediaType: file.mediaType,
      cache: file.cache,
      sha256: file.sha256,
      variants: Object.fromEntries(file.variants.map(({ coding, size }) => [coding, size])),
      sizes: sizesOf(file, build),
      sent: sentCoding(file, build),
      smallest: smallestCoding(file),
    })),
  }
}

function describeComparison({ before, noise, totals, files }: BuildComparison): unknown {
  return {
    against: { buildId: before.buildId, base: before.base },
    noise,
    totals: byKind((kind) => describeChanges(totals[kind ?? 'total'])),
    files: files.map((file) => ({
      name: file.name,
      kind: file.kind,
      state: file.state,
      before: file.before?.path ?? null,
      after: file.after?.path ?? null,
      sizes: describeChanges(file.sizes),
    })),
  }
}

function describeDownload(build: Manifest, download: Download): unknown {
  const files = filesToLoad(build, download)
  return {
    files: download.files,
    bytes: download.bytes,
    bytesWithDeltas: download.bytesWithDeltas ?? null,
    sizes: sumSizesToLoad(files),
    changes: files.map(({ path, bytes, delta = null, coding = null, sizes }) => ({
      path,
      bytes,
      delta,
      coding,
      sizes,
    })),
  }
}

function byKind<Value>(describe: (kind?: FileKind) => Value): Record<string, Value> {
  return Object.fromEntries([...fileKinds.map((kind) => [kind, describe(kind)]), ['total', describe()]])
}

/** Replaces `undefined` with `null`, because JSON has no `undefined`. */
function describeChanges(changes: SizeChanges): unknown {
  return bySizeColumn((column) => ({ ...changes[column], percent: changes[column].percent ?? null }))
}
