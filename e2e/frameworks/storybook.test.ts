import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectWholeBuild, compressionSummaries } from './support/expect-whole-build.ts'
import { type FrameworkProject, prepareFixture } from './support/framework-project.ts'

const folder = 'storybook-static'
const copied = Array.from({ length: 2000 }, (_, index) => `${index % 100}/${index}.txt`)

/**
 * Storybook copies `staticDirs` during the Vite build, and may end after it. The folder is not `public`
 * because Vite copies that, too: both would create the same folders and one could fail.
 */
describe('Storybook', () => {
  let project: FrameworkProject
  beforeAll(async () => {
    project = await prepareFixture('storybook')
    for (let index = 0; index < 100; index++) {
      await mkdir(path.join(project.folder, `static/${index}`), { recursive: true })
    }
    for (const name of copied) await writeFile(path.join(project.folder, 'static', name), name)
  })
  afterAll(() => project?.remove())

  test('is not compressed during its build, and prints the command to run', async () => {
    const output = await project.build()
    expect(compressionSummaries(output)).toEqual([])
    // Storybook prints messages in a box.
    expect(output.replaceAll(/\s*\n│\s*/g, ' ')).toContain('npx @serve-dist/server compress storybook-static')
  })

  test('gets a complete manifest from the command', async () => {
    const pages = ['index.html', 'iframe.html', ...copied]
    await project.compress(folder)
    const { files } = await expectWholeBuild({ project, folder, hashed: /^assets\//, pages })
    expect(files.length).toBeGreaterThan(copied.length)
  })
})
