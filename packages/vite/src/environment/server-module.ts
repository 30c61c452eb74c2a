import type { RuntimeEnvironment } from '@serve-dist/manifest'
import { readPackageFile } from '../read-package-file.ts'

/** The module that reads variables, as a part of the bundle of a server, which may run where no package is. */
export const environmentReader = '\0virtual:serve-dist/read-environment'

/** The text of `environmentReader`, which the build of this package makes of what the server reads variables with. */
export function readerModule(): string {
  return readPackageFile('dist/environment/read-environment.js')
}

/**
 * The text of the environment's module for a server's bundle: it reads the process's environment when the application
 * first asks for a value, so that a bundle can be loaded where there are none.
 */
export function serverModule({ prefix, variables }: RuntimeEnvironment): string {
  const description = JSON.stringify(JSON.stringify({ prefix, variables }))
  return `import { readEnvironment } from ${JSON.stringify(environmentReader)}
const environment = JSON.parse(${description})
let known
function valueOf(name) {
  if (known === undefined) {
    // Vite's "define" may replace process.env, but not that of a variable of this function.
    const { process } = globalThis
    const { values, problems } = readEnvironment(environment, process.env)
    if (problems.length > 0) throw new Error('The environment of this process:\\n  ' + problems.join('\\n  '))
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
