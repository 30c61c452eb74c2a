import { documentUrl } from '@serve-dist/foundation/text/document-url'
import { pendingPath } from './manifest.ts'
import { OperatorError } from './operator-error.ts'

/**
 * The command that makes a manifest say what a folder holds, ready for a shell.
 *
 * @param program - by its package where that may not be installed: without it, npx takes "serve-dist" of another author.
 */
export function compressCommand(
  folder: string,
  program: 'serve-dist' | '@serve-dist/server' = 'serve-dist',
): string {
  return `npx ${program} compress ${shellWord(folder)}`
}

/** A word of a command line, quoted where a shell would read it in another way. */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./\\~-]+$/.test(text)) return text
  return process.platform === 'win32' ? `"${text}"` : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** What to do about a folder without a manifest. */
export function manifestCure(folder: string): string {
  return `Add the plugin or your framework's integration (${documentUrl('frameworks')}), or run: ${compressCommand(folder)}`
}

/** Nothing stands where a build should be. */
export function buildNotFound(folder: string, options?: ErrorOptions): OperatorError {
  const problem = `${folder}: no such folder; build first, or name the folder that the build wrote`
  return new OperatorError('SD_BUILD_NOT_FOUND', problem, options)
}

/** The folder has no manifest where one is needed. */
export function manifestMissing(folder: string, options?: ErrorOptions): OperatorError {
  const problem = `${folder}: no manifest found. ${manifestCure(folder)}`
  return new OperatorError('SD_MANIFEST_MISSING', problem, options)
}

/**
 * The journal of a build that was killed, or is still under way, stands in the folder.
 *
 * @param record - the text of the bundler's record, if there is one.
 */
export function buildUnfinished(folder: string, record?: string): OperatorError {
  const isWhole = record !== undefined && !/"begun":\s*true/.test(record)
  if (isWhole) return compressionMissing(folder)
  const problem = `${folder}: the last build or compression did not finish (${pendingPath} is there); run it again, or, where every file is written by now: ${compressCommand(folder)}`
  return new OperatorError('SD_BUILD_UNFINISHED', problem)
}

/** The bundler wrote the folder, and no pass came after it. */
export function compressionMissing(folder: string): OperatorError {
  const problem = `${folder}: the build ended without its compression: run ${compressCommand(folder)} (if the build failed, build again); if this comes after each build, the framework's integration is missing (${documentUrl('frameworks')})`
  return new OperatorError('SD_BUILD_UNFINISHED', problem)
}

/** What `parseManifest` found in this file. */
export function manifestInvalid(file: string, cause: OperatorError): OperatorError {
  const problems = cause.problems.map((problem) => `${file}: ${problem}`)
  const cure = 'Build again: only the build writes the manifest, and nobody should edit it.'
  return new OperatorError('SD_MANIFEST_INVALID', [...problems, cure], { cause })
}
