import { fileURLToPath } from 'node:url'

/** The folder of this package, two levels above the compiled code in `dist/serve`. */
export const benchDirectory: string = fileURLToPath(new URL('../../', import.meta.url))

/** The folder of fixtures that stay between runs. */
export const cacheDirectory: string = `${benchDirectory}node_modules/.cache/serve-dist-bench/`

/** Our command in this checkout. */
export const ownCommand: string = fileURLToPath(
  new URL('../../../packages/server/bin/serve-dist.js', import.meta.url),
)
