import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import serveDist from '../src/index.ts'
import { application, createProject, prose } from './support/project.ts'
import { vites } from './support/vites.ts'

const program = fileURLToPath(new URL('../../server/bin/serve-dist.js', import.meta.url))

/** Returns the last line of `serve-dist compress`. */
async function compress(cwd: string, folder: string): Promise<string | undefined> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, 'compress', folder], { cwd })
  return stdout.trimEnd().split('\n').at(-1)
}

describe.each(vites)('the cache of builds by $name', ({ build }) => {
  test('is in the folder that the command uses, and changes no byte', async () => {
    const project = await createProject(application)
    await build(project)
    const cold = await project.manifest()
    expect((await project.list('node_modules/.cache/serve-dist')).length).toBeGreaterThan(0)
    await build(project)
    const [first, second] = project.logger.infos.filter((line) => / variants( |,)/.test(line))
    expect(first).not.toContain('from the cache')
    const made = cold.files.flatMap(({ variants }) => variants).length
    expect(second).toContain(`${made} variants (${made} from the cache) in `)
    expect({ ...(await project.manifest()), lastModified: '', files: [] }).toEqual({
      ...cold,
      lastModified: '',
      files: [],
    })
    const digests = ({ files }: typeof cold) => files.flatMap(({ variants }) => variants)
    expect(digests(await project.manifest())).toEqual(digests(cold))
  })

  test('is shared with the command, which encodes only files added after the build', async () => {
    const project = await createProject(application)
    await build(project)
    const variants = (await project.manifest()).files.flatMap((file) => file.variants).length
    await project.write('dist/about.html', prose('about'))
    expect(await compress(project.root, 'dist')).toContain(
      `${variants + 3} variants (${variants} from the cache) in `,
    )
    // Copy the build without its variants, as frameworks do.
    const sources = (await project.manifest()).files.map(({ path }) => path)
    const contents = await Promise.all(sources.map((path) => project.read(`dist/${path}`)))
    await rm(join(project.root, 'dist'), { recursive: true })
    for (const [index, path] of sources.entries())
      await project.write(`packages/site/out/${path}`, contents[index] ?? '')
    const summary = await compress(join(project.root, 'packages/site'), 'out')
    expect(summary).toContain(`${variants + 3} variants (${variants + 3} from the cache) in `)
  })

  test('can be disabled', async () => {
    const project = await createProject(application)
    const config = { plugins: [serveDist({ cache: false, durable: false })] }
    await build(project, config)
    await rm(join(project.root, 'dist'), { recursive: true })
    await build(project, config)
    expect(project.logger.infos.filter((line) => line.includes('from the cache'))).toEqual([])
    expect(await project.list('node_modules/.cache/serve-dist')).toEqual([
      expect.stringMatching(/^records\//),
    ])
  })
})
