import { OperatorError } from './operator-error.ts'

/**
 * Loads an optional package.
 *
 * @param load - imports the package by a literal name.
 * @throws OperatorError with the command that installs it.
 */
export async function loadOptional<Module>(
  { name, neededBy }: { readonly name: string; readonly neededBy: string },
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load()
  } catch (cause) {
    if (!isNotFound(cause, name)) throw cause
    throw new OperatorError(
      'SD_PACKAGE_MISSING',
      `${neededBy} needs the package ${name}, which is not installed. Run: npm install ${name}`,
      { cause },
    )
  }
}

/** Ignores missing dependencies of the package, which this command would not install. */
function isNotFound(error: unknown, name: string): boolean {
  if (!(error instanceof Error && 'code' in error)) return false
  if (error.code === 'ERR_MODULE_NOT_FOUND') return error.message.includes(`'${name}'`)
  // Yarn PnP: "Required package: pino (via …" or the end of the line.
  return error.code === 'MODULE_NOT_FOUND' && /^Required package: (\S+)/m.exec(error.message)?.[1] === name
}
