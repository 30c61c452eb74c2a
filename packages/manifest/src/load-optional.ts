import { OperatorError } from './operator-error.ts'

/**
 * Loads an optional package.
 *
 * @param load - imports it, by a literal name.
 * @throws OperatorError that says how to install it.
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
      `${neededBy} needs the package ${name}, which is not installed: npm install ${name}`,
      { cause },
    )
  }
}

/** A package whose own dependency is missing is broken, and this command would not help. */
function isNotFound(error: unknown, name: string): boolean {
  if (!(error instanceof Error && 'code' in error)) return false
  if (error.code === 'ERR_MODULE_NOT_FOUND') return error.message.includes(`'${name}'`)
  // Yarn's PnP: "Required package: pino (via …" or the end of the line.
  return error.code === 'MODULE_NOT_FOUND' && /^Required package: (\S+)/m.exec(error.message)?.[1] === name
}
