import { loadOptional } from '../load-optional.ts'
import type { AppType } from '@serve-dist/manifest'
import { describeInheritance, inheritOptions, readEarlierManifest } from './inherit-options.ts'

/** What the command line gave. */
export interface CompressFlags {
  readonly base?: string
  readonly appType?: AppType
  readonly exclude?: readonly string[]
  readonly minimumSize: number
  readonly cacheSize?: number
}

/**
 * Compresses a folder, with a progress line on a terminal and the table at the end. What the manifest that
 * is there knows (where the build is served, what it hashed, its rules) lives on unless a flag says otherwise.
 * Who only serves never loads what this needs.
 */
export async function compressCommand(directory: string, flags: CompressFlags): Promise<void> {
  const neededBy = 'serve-dist compress'
  const { createProgressLine, precompress } = await loadOptional(
    { name: '@serve-dist/precompress', neededBy },
    async () => await import('@serve-dist/precompress'),
  )
  const { formatPass } = await loadOptional(
    { name: '@serve-dist/report', neededBy },
    async () => await import('@serve-dist/report'),
  )
  const progressLine = createProgressLine(process.stderr)
  const warn = (message: string): void => {
    progressLine.clear()
    process.stderr.write(`serve-dist: warning: ${message}\n`)
  }
  const earlier = await readEarlierManifest(directory)
  try {
    const pass = await precompress(directory, {
      ...inheritOptions(earlier),
      ...flags,
      onProgress: (progress) => progressLine.update(progress),
      onWarning: warn,
    })
    for (const message of describeInheritance(earlier, pass.manifest)) warn(message)
    progressLine.clear()
    const colors = process.stdout.isTTY && process.stdout.hasColors()
    process.stdout.write(`${formatPass(pass, { colors })}\n`)
  } finally {
    progressLine.clear()
  }
}
