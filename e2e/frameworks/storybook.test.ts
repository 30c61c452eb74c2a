import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectWholeBuild, passesIn } from './support/expect-whole-build.ts'
import { type FrameworkProject, prepareFixture } from './support/framework-project.ts'

const folder = 'storybook-static'
const copied = Array.from({ length: 2000 }, (_, index) => `${index % 100}/${index}.txt`)

/**
 * Its copies of `staticDirs` run beside the Vite build, and may end after it. The folder is not `public`, which Vite copies
 * too: then one of the two fails where both make the same folder at once.
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

  test('gets no pass beside its copies, and says which command makes it', async () => {
    const output = await project.build()
    expect(passesIn(output)).toEqual([])
    // Storybook draws messages into a box.
    expect(output.replaceAll(/\s*\n│\s*/g, ' ')).toContain('npx @serve-dist/server compress storybook-static')
  })

  test('is described whole by the command', async () => {
    const pages = ['index.html', 'iframe.html', ...copied]
    await project.compress(folder)
    const { files } = await expectWholeBuild({ project, folder, hashed: /^assets\//, pages })
    expect(files.length).toBeGreaterThan(copied.length)
  })
})
