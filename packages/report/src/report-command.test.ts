import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringifyManifest } from '@serve-dist/manifest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type PublishedBuild, reportCommand, type ReportCommandOptions } from './report-command.ts'
import { makeManifest } from '../test/support/make-manifest.ts'

const manifest = makeManifest([{ path: 'assets/a-AAAA1111.js', size: 9000, variants: { br: 3000 } }])
const earlier = makeManifest([{ path: 'assets/a-BBBB1111.js', size: 8000, variants: { br: 2900 } }])

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'serve-dist-report-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'after.json'), stringifyManifest(manifest))
  await writeFile(join(folder, 'before.json'), stringifyManifest(earlier))
  return folder
}

async function run(
  location: string | PublishedBuild,
  options: ReportCommandOptions,
  terminal: { readonly isTTY?: boolean; readonly columns?: number } = {},
) {
  let output = ''
  let errors = ''
  const exitCode = await reportCommand(location, options, {
    stdout: { write: (text) => (output += text), ...terminal },
    stderr: { write: (text) => (errors += text) },
  })
  return { exitCode, output, errors }
}

describe('reportCommand', () => {
  test('prints the table of one build', async () => {
    const { exitCode, output, errors } = await run(join(await makeFolder(), 'after.json'), {})
    expect({ exitCode, errors }).toEqual({ exitCode: 0, errors: '' })
    expect(output).toMatch(/assets\/a-AAAA1111\.js +9\.00 kB +3\.00 kB +br/)
    expect(output.endsWith('\n')).toBe(true)
  })

  test('prints the same table to a terminal that reports 0 columns', async () => {
    const location = join(await makeFolder(), 'after.json')
    const { output } = await run(location, {})
    const terminal = { isTTY: true, columns: 0, hasColors: () => false }
    expect((await run(location, {}, terminal)).output).toBe(output)
  })

  test('compares with an earlier build', async () => {
    const folder = await makeFolder()
    const { output } = await run(join(folder, 'after.json'), { against: join(folder, 'before.json') })
    expect(output).toContain('assets/a-HASH.js')
    expect(output).toContain('+100 B')
  })

  test('compares a build of a store with the previous one and shows the download of returning visitors', async () => {
    const changes = [{ path: 'assets/a-AAAA1111.js', bytes: 3000, delta: 90, coding: 'dcz' } as const]
    const download = { files: 1, bytes: 3000, bytesWithDeltas: 90, changes }
    const { output } = await run({ build: manifest, replaced: earlier, download }, {})
    expect(output).toContain('assets/a-HASH.js')
    expect(output).toMatch(/\n\ndownloaded again .*\nassets\/a-AAAA1111\.js +3\.00 kB +9\.00 kB +90 B +dcz\n/)
  })

  test('suggests the import map of chunks, because this project has Vite 8', async () => {
    const [replaced, build] = ['AAAA1111', 'BBBB1111'].map((hash) =>
      makeManifest(
        ['a', 'b', 'c'].map((name) => {
          return { path: `assets/${name}-${hash}.js`, stem: `assets/${name}-[hash].js`, size: 9000 }
        }),
      ),
    )
    if (replaced === undefined || build === undefined) throw new Error('there are no builds')
    expect((await run({ build, replaced }, {})).output).toContain("Vite's build.chunkImportMap")
  })

  test('returns exit code 1 and names the files if a budget is exceeded', async () => {
    const location = join(await makeFolder(), 'after.json')
    const budget = ['assets/*.js=2kb:br', 'total=1mb']
    const terminal = await run(location, { budget })
    expect(terminal.exitCode).toBe(1)
    expect(terminal.output).toContain('✗ assets/*.js=2kb:br: 3.00 kB br of 2.00 kB')
    const json = await run(location, { budget, format: 'json' })
    expect(json.exitCode).toBe(1)
    expect(json.errors).toContain('serve-dist: budget assets/*.js=2kb:br: 3.00 kB')
    expect(JSON.parse(json.output).budgets[0].outcome).toBe('exceeded')
  })

  test.each([
    ['terminal', 'total of 1 file'],
    ['markdown', '<!-- serve-dist report -->'],
    ['json', '"version": 1'],
    ['html', '<!doctype html>'],
  ] as const)('writes %s to a file and creates missing folders', async (format, expected) => {
    const folder = await makeFolder()
    const output = join(folder, 'reports/new/report')
    const result = await run(join(folder, 'after.json'), { format, output })
    expect(result.output).toBe('')
    expect(result.errors).toBe(`serve-dist: wrote the report to ${output}\n`)
    expect(await readFile(output, 'utf8')).toContain(expected)
  })

  test('reports all invalid budgets before it reads a build', async () => {
    await expect(run('nowhere', { budget: ['a', 'total=b'] })).rejects.toMatchObject({
      name: 'OperatorError',
      problems: [expect.stringContaining('budget "a"'), expect.stringContaining('budget "total=b"')],
    })
  })

  test('names the file that cannot be written', async () => {
    const folder = await makeFolder()
    const output = join(folder, 'after.json/report')
    await expect(run(join(folder, 'after.json'), { output })).rejects.toThrow(
      `${output}: cannot write the report`,
    )
  })
})
