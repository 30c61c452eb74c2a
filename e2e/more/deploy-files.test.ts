import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, test, vi } from 'vitest'
import { runCommand } from '../../scripts/run-command.mjs'
import { findProgram } from '../../scripts/find-program.mjs'
import { installGoProgram } from '../src/install-go-program.ts'
import { installKubeconform } from '../src/install-kubeconform.ts'
import { runToEnd, startCommand } from '../src/start-command.ts'
import { testNginxConfiguration } from '../src/start-proxy.ts'
import { temporaryFolder } from '../src/temporary-folder.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { project, command } = inject('packedSpa')

const isCI = process.env['CI'] !== undefined
const isRequired = process.platform === 'linux' && isCI
const nginx = await findProgram('nginx')
const systemdAnalyze = await findProgram('systemd-analyze')
const go = await findProgram('go')

describe.skipIf(nginx === undefined && !isRequired)('deploy/nginx', () => {
  test.each(['serve-dist.conf', 'serve-dist-cache.conf'])('%s passes `nginx -t`', async (configuration) => {
    const result = await testNginxConfiguration(configuration, {
      program: nginx ?? 'nginx',
      origin: new URL('http://127.0.0.1:4173'),
      directory: await temporaryFolder(),
    })
    expect(result).toMatchObject({ exitCode: 0, output: expect.stringContaining('test is successful') })
  })
})

describe.skipIf(systemdAnalyze === undefined && !isRequired)('deploy/systemd', () => {
  test('passes `systemd-analyze verify` without output', async () => {
    const units = await copyUnits()
    expect(await runCommand(['systemd-analyze', 'verify', ...units], { isQuiet: true })).toEqual({
      exitCode: 0,
      output: '',
    })
  })

  test('has an exposure of at most 0.4 of 10', async () => {
    const [, service = ''] = await copyUnits()
    const analyze = ['systemd-analyze', 'security', '--offline=yes', '--no-pager', service] as const
    const { output } = await runCommand(analyze, { isQuiet: true })
    expect(Number(/exposure level for \S+: ([\d.]+)/.exec(output)?.[1])).toBeLessThanOrEqual(0.4)
  })
})

describe.skipIf(go === undefined && !isRequired)('deploy/kubernetes', () => {
  // From the first version that has the `sleep` hook by default to the newest with published schemas.
  test.each([
    ['base', '1.30.0'],
    ['base', '1.37.0'],
    ['store', '1.30.0'],
    ['store', '1.37.0'],
  ])('%s has the objects of its snapshot, which are valid for Kubernetes %s', async (name, version) => {
    const kustomize = await installGoProgram('sigs.k8s.io/kustomize/kustomize/v5@v5.8.0')
    const build = [kustomize, 'build', path.join(root, 'deploy/kubernetes', name)] as const
    const built = await runCommand(build, { isQuiet: true })
    expect(built).toMatchObject({ exitCode: 0 })
    await expect(built.output).toMatchFileSnapshot(`kubernetes/${name}.snapshot`)
    const kubeconform = await installKubeconform(version)
    const manifest = path.join(await temporaryFolder(), 'site.yaml')
    await writeFile(manifest, built.output)
    const result = await runCommand([...kubeconform, manifest], { isQuiet: true })
    expect(result).toMatchObject({ exitCode: 0, output: expect.stringContaining('Valid: 3, Invalid: 0') })
    await writeFile(manifest, built.output.replace('replicas: 2', 'replica: 2'))
    expect(await runCommand([...kubeconform, manifest], { isQuiet: true })).toMatchObject({ exitCode: 1 })
  })
})

describe.each(['examples/spa/Dockerfile', 'deploy/docker/Dockerfile'])('%s', (file) => {
  test.each([':', '', '*:', '0.0.0.0:', '127.0.0.1:', 'localhost:'])(
    'becomes healthy when the server is ready, with OPS=%s9090',
    async (host) => {
      const text = await readFile(path.join(root, file), 'utf8')
      const [, healthcheck = ''] = /^HEALTHCHECK .*\\\n {2}CMD (.*)$/m.exec(text) ?? []
      const [, ...check]: string[] = JSON.parse(healthcheck)
      const server = await startCommand(command, { args: ['--port', '0', '--ops', ':0'], cwd: project })
      try {
        // The second URL of the output.
        const port = await vi.waitUntil(
          () => Array.from(server.output().output.matchAll(/http:\/\/\S+:(\d+)\//g), ([, found]) => found)[1],
        )
        const isHealthy = async (ops: string) => {
          const options = { args: check, cwd: project, environment: { OPS: ops } }
          return (await runToEnd([process.execPath], options)).exitCode === 0
        }
        expect(await isHealthy(`${host}${port}`)).toBe(true)
        await server.stop()
        expect(await isHealthy(`${host}${port}`)).toBe(false)
      } finally {
        await server.stop()
      }
    },
  )
})

/** Copies the units, with the paths of an existing site. */
async function copyUnits(): Promise<readonly string[]> {
  const folder = await temporaryFolder()
  const copies = ['serve-dist.socket', 'serve-dist.service'].map(async (name) => {
    const text = await readFile(path.join(root, 'deploy/systemd', name), 'utf8')
    const copy = path.join(folder, name)
    await writeFile(copy, text.replaceAll('/srv/site', project))
    return copy
  })
  return Promise.all(copies)
}
