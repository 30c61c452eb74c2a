import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import serveDist from '../src/index.ts'
import { application, createProject } from './support/project.ts'
import { createRecordingLogger } from './support/recording-logger.ts'
import { vites } from './support/vites.ts'

describe.each(vites)('the cache of builds by $name', ({ load }) => {
  test('stands where the command looks, and changes no byte', async () => {
    const { build } = await load()
    const project = await createProject(application)
    const logger = createRecordingLogger()
    const config = () => project.config({ plugins: [serveDist()], customLogger: logger })
    await build(config())
    const cold = await project.manifest()
    expect((await project.list('node_modules/.cache/serve-dist')).length).toBeGreaterThan(0)
    await build(config())
    const [first, second] = logger.infos.filter((line) => line.includes('variants ('))
    expect(first).not.toContain('from the cache')
    expect(second).toMatch(/\d+ written, [1-9]\d* from the cache/)
    expect({ ...(await project.manifest()), lastModified: '', files: [] }).toEqual({
      ...cold,
      lastModified: '',
      files: [],
    })
    const digests = ({ files }: typeof cold) => files.flatMap(({ variants }) => variants)
    expect(digests(await project.manifest())).toEqual(digests(cold))
  })

  test('can be left out', async () => {
    const { build } = await load()
    const project = await createProject(application)
    const logger = createRecordingLogger()
    const config = () =>
      project.config({ plugins: [serveDist({ cache: false, durable: false })], customLogger: logger })
    await build(config())
    await rm(join(project.root, 'dist'), { recursive: true })
    await build(config())
    expect(logger.infos.filter((line) => line.includes('from the cache'))).toEqual([])
    expect(await project.list('node_modules/.cache/serve-dist')).toEqual([
      expect.stringMatching(/^records\//),
    ])
  })
})
