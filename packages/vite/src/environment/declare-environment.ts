import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isNotFoundError, reasonOf } from '@serve-dist/foundation/files/file-error'
import { type EnvironmentVariable, type RuntimeEnvironment } from '@serve-dist/manifest'
import { environmentImport } from './environment-import.ts'
import type { EnvironmentSettings } from './environment-settings.ts'

/** Keeps the file with the types of the environment up to date; warns where it cannot be written. */
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
    // Whoever watches the file builds again when it is written.
    if (readIfThere(file) === text) return
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  } catch (error) {
    warn(`the types of "env" are not up to date: ${file} cannot be written (${reasonOf(error)})`)
  }
}

/** The text of the file: what `import env from 'virtual:serve-dist/env'` gives. */
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
