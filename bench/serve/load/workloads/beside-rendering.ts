import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory } from '../../bench-directory.ts'
import { renderPage } from '../../peers/programs/render-page.ts'
import { renderingHosts } from '../../peers/rendering-hosts.ts'
import type { Workload } from '../workload.ts'
import { bundles } from './bundles.ts'

/** Some twenty answers a second are asked for beside the load. */
const leastSeconds = 3

/** Static files and rendered pages from one process: how long pages wait for files. */
export const besideRendering: Workload = {
  name: 'beside-rendering',
  title: 'Five 50 KB bundles, while pages are rendered in the same process',
  servers: renderingHosts,
  leastSeconds,
  prepare: async () => ({ ...(await bundles.prepare()), beside: '/rendered' }),
}

/** The reverse: how long files wait for pages. */
export const besideFiles: Workload = {
  name: 'beside-files',
  title: 'Rendered pages, while a 50 KB bundle is asked for of the same process',
  servers: renderingHosts,
  // A file waits for as many pages of 10 ms as there are connections.
  leastSeconds: 30,
  async prepare() {
    const prepared = await bundles.prepare()
    // What the answer is compared with: beside the folder, for it is not served from there.
    await writeFile(join(cacheDirectory, 'rendered.html'), renderPage())
    const accept = ['zstd', 'br', 'gzip'] as const
    return {
      ...prepared,
      requests: [{ target: '/rendered', file: '../rendered.html', method: 'GET', accept }],
      sequence: [0],
      beside: '/assets/bundle-1.js',
    }
  },
}
