import { fileURLToPath } from 'node:url'
import { installPython } from '../install-python.mjs'

/**
 * The Python that has the linters of `requirements.txt` beside it; `undefined`, with the reason on standard output,
 * where it cannot be had.
 */
export async function installLinters() {
  return await installPython({
    title: 'the linters of deployments',
    name: 'deploy-linters',
    requirements: fileURLToPath(new URL('requirements.txt', import.meta.url)),
    proof:
      'import kubernetes_validate, pathlib, sys; assert pathlib.Path(sys.executable).with_name("hadolint").exists()',
  })
}
