import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../run-command.mjs'

/** @import { Findings } from './findings.mjs' */

const manifests = fileURLToPath(new URL('../../deploy/kubernetes', import.meta.url))

/** From the first that knows `sleep` as a hook without being asked to, to the newest that the package has. */
const versions = ['1.30', '1.37']

/**
 * Compares the manifests with the schemas of Kubernetes; an unknown field is a problem.
 *
 * @param {string | undefined} python
 * @param {Findings} findings
 */
export async function checkKubernetes(python, findings) {
  if (python === undefined) return findings.skip('the Kubernetes manifests', 'their schemas come from PyPI')
  const files = (await readdir(manifests)).map((name) => join(manifests, name))
  const validate = join(dirname(python), 'kubernetes-validate')
  for (const version of versions) {
    const { exitCode, output } = await runCommand([validate, '--strict', '-k', version, ...files], {
      isQuiet: true,
    })
    findings.note(`Kubernetes ${version} knows the manifests`, exitCode === 0 ? undefined : output)
  }
}
