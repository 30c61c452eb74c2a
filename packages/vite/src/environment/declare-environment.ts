import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isNotFoundError, reasonOf } from '@serve-dist/foundation/files/file-error'
import { type EnvironmentVariable, type RuntimeEnvironment } from '@serve-dist/manifest'
import { environmentImport } from './environment-import.ts'
import type { EnvironmentSettings } from './environment-settings.ts'

/** Updates the file with the types of the environment. Warns if it cannot write the file. */
export function declareEnvironment(
  { environment, types }: EnvironmentSettings,
  root: string,
  warn: (message: string) => void,
): void {
  if (types === false) return
  const preset = join(existsSync(join(root, 'src')) ? 'src' : '', 'serve-dist-env.d.ts')
  const file = resolve(root, types ?? preset)
  const text = environmentTypesText(environment)
  try {
    // Do not write equal text, because programs that watch the file would build again.
    if (readIfThere(file) === text) return
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  } catch (error) {
    warn(
      `cannot write ${file}: ${reasonOf(error)}. The types of "env" are outdated. Make the file writable, or set another path with "envTypes".`,
    )
  }
}

/** Returns the declaration of the module `virtual:serve-dist/env`. */
export function environmentTypesText({ variables }: Pick<RuntimeEnvironment, 'variables'>): string {
  const fields = Object.entries(variables).map(([name, variable]) => {
    const isThere = variable.required === true || variable.default !== undefined
    return `    readonly ${name}${isThere ? '' : '?'}: ${typeOf(variable)}\n`
  })
  return `// Written by serveDist() from its option "env".
declare module '${environmentImport}' {
  const env: {
${fields.join('')}  }
  export default env
}
`
}

function typeOf({ type }: EnvironmentVariable): string {
  return type === 'json' ? 'unknown' : type
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (isNotFoundError(error)) return undefined
    throw error
  }
}
