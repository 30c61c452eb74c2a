import { fileURLToPath } from 'node:url'

/** The folder of this package: compiled code stands two levels below it, in `dist/serve`. */
export const benchDirectory: string = fileURLToPath(new URL('../../', import.meta.url))

/** Where fixtures are kept between runs. */
export const cacheDirectory: string = `${benchDirectory}node_modules/.cache/serve-dist-bench/`
