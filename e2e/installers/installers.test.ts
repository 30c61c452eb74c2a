import { readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { ContentCoding } from '@serve-dist/manifest'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { decodeIndependently } from '../src/decode-independently.ts'
import { sendRequest } from '../src/send-request.ts'
import { blocks, linesOf } from './support/document-blocks.ts'
import { type Installer, installers } from './support/installer.ts'
import { type NewProject, newProject, vite } from './support/new-project.ts'

const [install, configuration, use] = blocks.filter(({ place }) => place.startsWith('README.md'))
const [build = '', serve = ''] = linesOf(use)

const isCI = process.env['CI'] !== undefined
const isWindows = process.platform === 'win32'
const isMissing = ({ programs }: Installer) => Object.keys(programs).length === 0 && !isCI

for (const installer of installers) {
  describe.skipIf(isWindows || isMissing(installer))(`with ${installer.name}`, () => {
    installAndServe(installer)
  })
}

function installAndServe(installer: Installer): void {
  let project: NewProject

  beforeAll(async () => {
    project = await newProject(installer)
    await expectSuccess(`npm install --save-dev ${vite}`)
    for (const line of linesOf(install)) await expectSuccess(line)
    await project.write('vite.config.ts', configuration?.code ?? '')
    await expectSuccess(build)
  })
  afterAll(async () => await project.remove())

  async function expectSuccess(line: string): Promise<string> {
    const end = await project.run(line)
    expect({ line, ...end }).toMatchObject({ line, exitCode: 0 })
    return `${end.output}${end.errors}`
  }

  /**
   * Starts a server with a command. Returns its page and script in a coding, and whether they decode
   * correctly.
   */
  async function visit(line: string, coding: ContentCoding): Promise<object> {
    const server = await project.start(line)
    const ask = async (target: string) => {
      const url = new URL(target, server.url)
      const { status, headers, body } = await sendRequest(url, { headers: { 'accept-encoding': coding } })
      const file = path.join(project.folder, 'encoded')
      await writeFile(file, body)
      const plain = await sendRequest(url)
      const isWhole = Buffer.from(await decodeIndependently(file, coding)).equals(plain.body)
      return { answer: [status, headers['content-encoding'], isWhole], plain: plain.body.toString() }
    }
    try {
      const page = await ask('/')
      const script = await ask(/src="([^"]+)"/.exec(page.plain)?.[1] ?? '/none')
      const missing = await sendRequest(new URL('/assets/missing.js', server.url))
      return { page: page.answer, script: script.answer, missing: missing.status }
    } finally {
      await server.stop()
    }
  }

  test('builds and serves with the commands of the README', async () => {
    expect(await readdir(path.join(project.folder, 'dist/.serve-dist'))).toContain('manifest.json')
    expect(await visit(serve, 'br')).toEqual(wholeSite('br'))
  })

  test.each(['npx serve-dist --workers 2', 'npx serve-dist --memory-budget 0', 'npx vite preview --port 0'])(
    'answers with %s',
    async (line) => {
      expect(await visit(line, 'zstd')).toEqual(wholeSite('zstd'))
    },
  )

  test('compresses a folder in threads, reports and explains it', async () => {
    for (const name of ['a', 'b', 'c']) {
      const words = Array.from({ length: 30_000 }, (_, index) => `${name}${(index * 7919) % 10_007}`)
      await project.write(`public/${name}.txt`, words.join(' '))
    }
    await project.write(
      'public/index.html',
      `<!doctype html>${'<p>text</p>'.repeat(99)}<script src="a.txt"></script>`,
    )
    expect(await expectSuccess('npx serve-dist compress public')).toContain('4 files, 12 variants in ')
    expect(await expectSuccess('npx serve-dist report public --format html')).toContain('<!doctype html>')
    expect(await expectSuccess('npx serve-dist explain /a.txt public')).toContain('/a.txt')
    expect(await visit('npx serve-dist public', 'zstd')).toEqual(wholeSite('zstd'))
  })

  test('names a missing optional package, and finds it after its installation', async () => {
    expect(await project.run('npx serve-dist --access-log json')).toMatchObject({
      exitCode: 1,
      errors: expect.stringMatching(/^serve-dist: SD_PACKAGE_MISSING: .+npm install pino$/m),
    })
    await expectSuccess('npm install pino')
    expect(await visit('npx serve-dist --access-log json', 'gzip')).toEqual(wholeSite('gzip'))
  })

  test('compresses a folder that Vite did not build, without an installation', async () => {
    const empty = await newProject(installer)
    onTestFinished(() => empty.remove())
    const { output, errors } = await empty.run('npx @serve-dist/server compress . --exclude .npmrc')
    expect(`${output}${errors}`).toContain('variants')
  })
}

function wholeSite(coding: ContentCoding): object {
  return { page: [200, coding, true], script: [200, coding, true], missing: 404 }
}
