import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../../scripts/run-command.mjs'
import { installGoProgram } from './install-go-program.ts'

const program = 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0'
/** A package of PyPI with the schemas that kubeconform would download from GitHub. */
const schemas = 'kubernetes-validate==1.37.0'
const cache = fileURLToPath(new URL('../../node_modules/.cache/kubeconform', import.meta.url))

/**
 * Builds kubeconform with Go and unpacks its schemas. Returns its command for a version of Kubernetes.
 *
 * @throws Error with the output if Go, Python or the network is missing
 */
export async function installKubeconform(version: string): Promise<readonly [string, ...string[]]> {
  await mkdir(cache, { recursive: true })
  const kubeconform = await installGoProgram(program)
  await run(['python3', '-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', cache, schemas])
  const wheel = (await readdir(cache)).find((name) => name.endsWith('.whl')) ?? 'no wheel'
  const unpacked = path.join(cache, version)
  await rm(unpacked, { recursive: true, force: true })
  await run(['python3', '-m', 'zipfile', '--extract', path.join(cache, wheel), unpacked])
  const folder = path.join(unpacked, 'kubernetes_validate/kubernetes-json-schema', `v${version}-local-strict`)
  for (const name of await readdir(folder)) await useLocalSchemas(path.join(folder, name))
  const location = path.join(folder, '{{.ResourceKind}}{{.KindSuffix}}.json')
  const flags = ['-strict', '-summary', '-kubernetes-version', version, '-schema-location', location]
  return [kubeconform, ...flags]
}

/** Replaces the URLs of other schemas by file names. */
async function useLocalSchemas(file: string): Promise<void> {
  const text = await readFile(file, 'utf8')
  const { $id: _address, ...schema }: Record<string, unknown> = JSON.parse(text.replaceAll('"/api/', '"'))
  await writeFile(file, JSON.stringify(schema))
}

async function run(command: readonly [string, ...string[]]): Promise<void> {
  const { exitCode, output } = await runCommand(command, { isQuiet: true, timeLimit: 240_000 })
  if (exitCode !== 0) throw new Error(`${command.join(' ')} failed:\n${output}`)
}
