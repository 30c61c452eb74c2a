import type { RuntimeEnvironment } from '@serve-dist/manifest'
import { readPackageFile } from '../read-package-file.ts'

/** The module that reads variables. It is part of a server's bundle, because packages may be missing at run time. */
export const environmentReader = '\0virtual:serve-dist/read-environment'

/** Returns the text of `environmentReader`, which this package's build makes from the server's own code. */
export function readerModule(): string {
  return readPackageFile('dist/environment/read-environment.js')
}

/**
 * Returns the environment module for a server's bundle. It reads the environment at the first access, so that a bundle
 * can load without the variables.
 */
export function serverModule({ prefix, variables }: RuntimeEnvironment): string {
  const description = JSON.stringify(JSON.stringify({ prefix, variables }))
  return `import { readEnvironment } from ${JSON.stringify(environmentReader)}
const environment = JSON.parse(${description})
let known
function valueOf(name) {
  if (known === undefined) {
    // Vite's "define" may replace process.env, so access it through a local variable.
    const { process } = globalThis
    const { values, problems } = readEnvironment(environment, process.env)
    if (problems.length > 0) throw new Error('Environment variables of this process are missing or invalid:\\n  ' + problems.join('\\n  '))
    known = values
  }
  return Object.hasOwn(known, name) ? known[name] : undefined
}
const env = {}
for (const name of Object.keys(environment.variables)) {
  Object.defineProperty(env, name, { enumerable: true, get: () => valueOf(name) })
}
export default Object.freeze(env)
`
}
