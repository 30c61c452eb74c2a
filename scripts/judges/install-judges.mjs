import { fileURLToPath } from 'node:url'
import { installPython } from '../install-python.mjs'

/**
 * The Python that has the judges; `undefined`, with the reason on standard output, where it cannot be had.
 *
 * @returns {Promise<string | undefined>}
 */
export async function installJudges() {
  return await installPython({
    title: 'the judges of HTTP',
    name: 'http-judges',
    requirements: fileURLToPath(new URL('requirements.txt', import.meta.url)),
    proof: 'import h11, httplint, hypothesis, redbot',
  })
}
