import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { pnpmCommand } from '../../scripts/pnpm-command.mjs'
import { runCommand } from '../../scripts/run-command.mjs'
import { buildExample } from './build-example.ts'
import { installPackedSpa } from './install-packed-spa.ts'
import { npmCommand } from '../../scripts/npm-command.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Builds the packages and every example once for all test files, `spa` as a user would install it too. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const temporary = await realpath(await mkdtemp(path.join(tmpdir(), 'serve-dist-e2e-')))
  const teardown = () => rm(temporary, { recursive: true, force: true, maxRetries: 5 })
  try {
    const { exitCode, output } = await runCommand(pnpmCommand('run', 'build'), { cwd: root, isQuiet: true })
    if (exitCode !== 0) throw new Error(`the build of the packages failed:\n${output}`)
    const packed = await installPackedSpa(temporary)
    project.provide('packedSpa', await buildExample('packed spa', packed, npmCommand('run', 'build')))
    const names = ['spa', 'editor', 'multi-page']
    const examples = []
    for (const name of names) examples.push(await buildExample(name, path.join(root, 'examples', name)))
    project.provide('examples', examples)
  } catch (error) {
    await teardown()
    throw error
  }
  return teardown
}
