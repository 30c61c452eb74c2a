import { describe, expect, test } from 'vitest'
import serveDist from '../src/index.ts'
import { application, createProject } from './support/project.ts'
import { vites } from './support/vites.ts'

describe.each(vites)('budgets of a build by $name', ({ build }) => {
  test('accept a build within its budgets', async () => {
    const project = await createProject(application)
    const plugins = [serveDist({ budgets: ['assets/*.js=100kb', 'total=1mb:identity'] })]
    await build(project, { plugins })
    expect(project.logger.warnings).toEqual([])
  })

  test('fail a build that exceeds a budget, and name the files with their sizes', async () => {
    const project = await createProject(application)
    const plugins = [serveDist({ budgets: ['assets/*.js=1kb:identity', 'assets/*.css=1mb', 'total=0:br'] })]
    const failure: unknown = await build(project, { plugins }).catch((error: unknown) => error)
    const message = failure instanceof Error ? failure.message : ''
    expect(message).toMatch(/This build exceeds its budgets/)
    expect(message).toMatch(
      /assets\/\*\.js=1kb:identity: [\d.]+ kB .*assets\/index-[\w-]+\.js [\d.]+ kB, assets\/lazy-/,
    )
    expect(message).toContain('total=0:br')
    expect(message).not.toContain('*.css')
    expect(failure).toHaveProperty(
      'stack',
      expect.stringMatching(/^(?:\[plugin serve-dist\] )?This build exceeds/),
    )
    expect(failure).toHaveProperty('stack', expect.not.stringMatching(/^ +at /m))
    // The build exceeds its budget, but is complete.
    expect(Object.values(await project.classes())).toContain('immutable')
  })

  test('warn about a budget that matches no file', async () => {
    const project = await createProject(application)
    await build(project, { plugins: [serveDist({ budgets: ['asets/*.js=1kb'] })] })
    expect(project.logger.warnings).toEqual([expect.stringContaining('asets/*.js=1kb: matches no file')])
  })
})
