import { documentUrl } from '@serve-dist/foundation/text/document-url'
import { pendingPath } from './manifest.ts'
import { OperatorError } from './operator-error.ts'

/**
 * Returns the command that updates the manifest of a folder, quoted for a shell.
 *
 * @param program - the name of the package if it may not be installed. Otherwise npx would install an unrelated package
 * named "serve-dist".
 */
export function compressCommand(
  folder: string,
  program: 'serve-dist' | '@serve-dist/server' = 'serve-dist',
): string {
  return `npx ${program} compress ${shellWord(folder)}`
}

/** Quotes a word for a shell, if necessary. */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./\\~-]+$/.test(text)) return text
  return process.platform === 'win32' ? `"${text}"` : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** Returns the fix for a folder without a manifest. */
export function manifestCure(folder: string): string {
  return `Add the plugin or your framework's integration (${documentUrl('frameworks')}), or run: ${compressCommand(folder)}`
}

/** Creates the error for a missing build folder. */
export function buildNotFound(folder: string, options?: ErrorOptions): OperatorError {
  const problem = `${folder}: the folder does not exist. Build first, or pass the folder that the build wrote.`
  return new OperatorError('SD_BUILD_NOT_FOUND', problem, options)
}

/** Creates the error for a folder without a manifest. */
export function manifestMissing(folder: string, options?: ErrorOptions): OperatorError {
  const problem = `${folder}: no manifest found. ${manifestCure(folder)}`
  return new OperatorError('SD_MANIFEST_MISSING', problem, options)
}

/**
 * Creates the error for a folder with the journal of an unfinished build.
 *
 * @param record - the text of the bundler's record, if there is one.
 */
export function buildUnfinished(folder: string, record?: string): OperatorError {
  const isWhole = record !== undefined && !/"begun":\s*true/.test(record)
  if (isWhole) return compressionMissing(folder)
  const problem = `${folder}: the last build or compression did not finish (${pendingPath} exists). Build again. If all files are complete, run: ${compressCommand(folder)}`
  return new OperatorError('SD_BUILD_UNFINISHED', problem)
}

/** Creates the error for a finished build without a compression step. */
export function compressionMissing(folder: string): OperatorError {
  const problem = `${folder}: the build ended without its compression. Run: ${compressCommand(folder)} (if the build failed, build again). If this happens after each build, add the integration for your framework (${documentUrl('frameworks')}).`
  return new OperatorError('SD_BUILD_UNFINISHED', problem)
}

/** Creates the error for an invalid manifest file. */
export function manifestInvalid(file: string, cause: OperatorError): OperatorError {
  const problems = cause.problems.map((problem) => `${file}: ${problem}`)
  const cure = 'Build again. Do not edit the manifest.'
  return new OperatorError('SD_MANIFEST_INVALID', [...problems, cure], { cause })
}
