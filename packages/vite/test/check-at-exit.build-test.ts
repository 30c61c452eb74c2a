import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runCommand } from '../../../scripts/run-command.mjs'
import { application, createProject, type Project, prose } from './support/project.ts'
import { isChosen } from './support/vites.ts'

const plugin = new URL('../dist/index.js', import.meta.url).href
const vite = join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin/vite.js')

/** Runs `vite build` in a separate process, with additional code in its configuration. */
async function build(
  project: Project,
  { more = '', args = [] }: { readonly more?: string; readonly args?: readonly string[] } = {},
) {
  await project.write(
    'vite.config.mjs',
    `import { rmSync, writeFileSync } from 'node:fs'
    import serveDist from '${plugin}'
    ${more}
    export default { plugins: [serveDist()], build: { emptyOutDir: false } }`,
  )
  const command = [process.execPath, vite, 'build', ...args] as const
  return await runCommand(command, { cwd: project.root, isQuiet: true })
}

/** Returns code that runs after Vite's build, when frameworks write. */
function atTheEnd(code: string): string {
  return `process.once('beforeExit', () => { ${code} })`
}

describe.runIf(isChosen({ name: 'Vite 8' }))('the end of a build', () => {
  test('prints nothing if no file changed after the compression', async () => {
    const project = await createProject({ ...application, 'public/robots.txt': 'all' })
    const { exitCode, output } = await build(project)
    expect(output).not.toContain('[serve-dist]')
    expect(exitCode).toBe(0)
  })

  test('names added, changed and deleted files, and fails if pages are among them', async () => {
    const project = await createProject({
      ...application,
      'public/robots.txt': 'all',
      'public/gone.txt': 'x',
    })
    const more = atTheEnd(
      `writeFileSync('dist/about.html', 'a page'); writeFileSync('dist/robots.txt', 'none'); rmSync('dist/gone.txt')`,
    )
    const { exitCode, output } = await build(project, { more })
    expect(output).toContain('dist changed after its manifest was written: ')
    expect(output).toContain('added: about.html; changed: robots.txt; deleted: gone.txt')
    expect(output).toContain('npx @serve-dist/server compress dist')
    expect(output.match(/\[serve-dist\]/g)).toHaveLength(1)
    expect(exitCode).toBe(1)
  })

  test('names the integration of vite-ssg', async () => {
    const project = await createProject(application)
    const more = `process.env.VITE_SSG = 'true'; ${atTheEnd(`writeFileSync('dist/about.html', 'a page')`)}`
    const { exitCode, output } = await build(project, { more })
    expect(output).toContain(
      `vite-ssg writes its pages after Vite's build. Import serveDist() from "@serve-dist/vite/vite-ssg".`,
    )
    expect(exitCode).toBe(1)
  })

  test('does not fail for other files, and names three of them', async () => {
    const project = await createProject(application)
    const more = atTheEnd(`for (const n of [1, 2, 3, 4, 5]) writeFileSync('dist/' + n + '.txt', 'x')`)
    const { exitCode, output } = await build(project, { more })
    expect(output).toContain('added: 1.txt, 2.txt, 3.txt and 2 more')
    expect(exitCode).toBe(0)
  })

  test('also checks the folder of another build of the project, for changes in this process', async () => {
    const project = await createProject({
      ...application,
      'server.js': `export default ${JSON.stringify(prose('server'))}`,
    })
    expect((await build(project)).exitCode).toBe(0)
    await project.write('dist/earlier.html', 'written between the builds')
    const args = ['--ssr', 'server.js', '--outDir', 'server']
    const { exitCode, output } = await build(project, {
      args,
      more: atTheEnd(`writeFileSync('dist/about.html', 'a page')`),
    })
    expect(output).toContain('added: about.html.')
    expect(output).toContain('npx @serve-dist/server compress dist')
    expect(exitCode).toBe(1)
  })
})
