import { basename } from 'node:path'
import { type Manifest, manifestPath } from '@serve-dist/manifest'
import { createColors } from './create-colors.ts'
import { formatBuildTable } from './format-build-table.ts'

/** What a pass did, as `precompress` answers it. */
export interface FinishedPass {
  readonly directory: string
  readonly manifest: Manifest
  readonly written: readonly string[]
  readonly removed: readonly string[]
  readonly cacheHits: number
  readonly durationMs: number
}

/** What is printed at the end of a pass: the table of the build, and a line on what was done. */
export function formatPass(pass: FinishedPass, options: { readonly colors: boolean }): string {
  const { directory, manifest, written, removed, cacheHits, durationMs } = pass
  const colors = createColors(options.colors)
  const variants = manifest.files.reduce((sum, file) => sum + file.variants.length, 0)
  const changes = [
    ...writtenOf(written),
    ...(cacheHits > 0 ? [`${cacheHits.toLocaleString('en-US')} from the cache`] : []),
    ...(removed.length > 0 ? [`${removed.length} removed`] : []),
  ]
  return [
    formatBuildTable(manifest, { ...options, prefix: `${basename(directory)}/` }),
    colors.green(`✓ ${count(manifest.files.length, 'file')}, ${count(variants, 'variant')}`) +
      colors.dim(` (${changes.join(', ') || 'nothing changed'}) in ${seconds(durationMs)}`),
  ].join('\n')
}

/** Of variants how many, as in what stands before them; the manifest alone is a change too. */
function writtenOf(paths: readonly string[]): string[] {
  const variants = paths.filter((path) => path !== manifestPath)
  if (variants.length > 0) return [`${variants.length.toLocaleString('en-US')} written`]
  return paths.length > 0 ? ['manifest written'] : []
}

function count(amount: number, noun: string): string {
  return `${amount.toLocaleString('en-US')} ${noun}${amount === 1 ? '' : 's'}`
}

function seconds(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)}ms` : `${(milliseconds / 1000).toFixed(2)}s`
}
