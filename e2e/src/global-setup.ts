import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { copySpa } from '../../scripts/copy-spa.mjs'
import { pnpmCommand } from '../../scripts/pnpm-command.mjs'
import { runCommand } from '../../scripts/run-command.mjs'
import { buildExample } from './build-example.ts'
import { npmCommand } from '../../scripts/npm-command.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Builds the packages and the project's examples once for all test files. Also installs `spa` as a user does.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const temporary = await realpath(await mkdtemp(path.join(tmpdir(), 'serve-dist-e2e-')))
  const teardown = () => rm(temporary, { recursive: true, force: true, maxRetries: 5 })
  try {
    await buildPackages()
    const names = project.getProvidedContext().exampleNames
    const packed = path.join(temporary, 'spa')
    const [packedSpa, ...examples] = await Promise.all([
      copySpa(packed).then(() => buildExample('packed spa', packed, npmCommand('run', 'build'))),
      ...names.map((name) => buildExample(name, path.join(root, 'examples', name))),
    ])
    project.provide('packedSpa', packedSpa)
    project.provide('examples', examples)
  } catch (error) {
    await teardown()
    throw error
  }
  return teardown
}

async function buildPackages(): Promise<void> {
  // `pnpm verify` has already built them.
  if (process.env['SERVE_DIST_IS_BUILT'] !== undefined) return
  const { exitCode, output } = await runCommand(pnpmCommand('run', 'build'), { cwd: root, isQuiet: true })
  if (exitCode !== 0) throw new Error(`the build of the packages failed:\n${output}`)
}
