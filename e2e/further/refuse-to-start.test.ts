import { chmod, cp, mkdir, open, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import path from 'node:path'
import { manifestPath, variantPath } from '@serve-dist/manifest'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { copyBuild } from '../src/copy-build.ts'
import { readManifest } from '../src/read-manifest.ts'
import { sendRequest } from '../src/send-request.ts'
import { type CommandEnd, runToEnd, startCommand } from '../src/start-command.ts'
import { temporaryFolder } from '../src/temporary-folder.ts'

const { command, dist, project } = inject('packedSpa')
/** Runs a command as the user `nobody`, which may read only public files. */
const asNobody = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups']
const stackLine = /^\s+at \S/m

function serve(directory: string, ...flags: readonly string[]): Promise<CommandEnd> {
  return runToEnd(command, { args: [directory, '--port', '0', ...flags], cwd: project })
}

/** Returns the first two compressed files of the build. */
async function compressedFiles(directory: string): Promise<readonly [string, string]> {
  const { files } = await readManifest(directory)
  const [first, second] = files.filter(({ variants }) => variants.length === 3)
  if (first === undefined || second === undefined) throw new Error('the build has no compressed files')
  return [first.path, second.path]
}

describe('serve-dist refuses to start', () => {
  test('if a variant is missing and a file is truncated, and names both at once', async () => {
    const directory = await copyBuild(dist)
    const [first, second] = await compressedFiles(directory)
    await rm(path.join(directory, variantPath(first, 'br')))
    await truncate(path.join(directory, second), 10)
    const end = await serve(directory)
    expect(end).toMatchObject({ exitCode: 1, output: '' })
    expect(end.errors).toContain(variantPath(first, 'br'))
    expect(end.errors).toContain(second)
    expect(end.errors).not.toMatch(stackLine)
  })

  test('if the manifest is truncated', async () => {
    const directory = await copyBuild(dist)
    const text = await readFile(path.join(directory, manifestPath), 'utf8')
    await writeFile(path.join(directory, manifestPath), text.slice(0, text.length / 2))
    const end = await serve(directory)
    expect(end).toMatchObject({ exitCode: 1, output: '' })
    expect(end.errors.replaceAll('\\', '/')).toContain(manifestPath)
    expect(end.errors).not.toMatch(stackLine)
  })

  test('if the manifest has wrong fields, and names the path of each', async () => {
    const directory = await copyBuild(dist)
    const text = await readFile(path.join(directory, manifestPath), 'utf8')
    const spoiled: unknown = { ...JSON.parse(text), base: 'nowhere', appType: 'php' }
    await writeFile(path.join(directory, manifestPath), JSON.stringify(spoiled))
    const end = await serve(directory)
    expect(end).toMatchObject({ exitCode: 1, output: '' })
    expect(end.errors).toContain('$.base')
    expect(end.errors).toContain('$.appType')
    expect(end.errors).not.toMatch(stackLine)
  })

  test('with --verify, if bytes changed but not the size', async () => {
    const directory = await copyBuild(dist)
    const [first] = await compressedFiles(directory)
    const file = await open(path.join(directory, variantPath(first, 'gzip')), 'r+')
    await file.write('?', 20)
    await file.close()
    const end = await serve(directory, '--verify')
    expect(end).toMatchObject({ exitCode: 1, output: '' })
    expect(end.errors).toContain(variantPath(first, 'gzip'))
    expect(end.errors).not.toMatch(stackLine)
  })

  test('if the folder does not exist', async () => {
    const directory = path.join(await temporaryFolder(), 'nowhere')
    const end = await serve(directory)
    expect(end).toMatchObject({ exitCode: 1, output: '' })
    expect(end.errors).toContain('nowhere')
    expect(end.errors).not.toMatch(stackLine)
  })

  test('if pages were written after the compression, until the printed command has run', async () => {
    const directory = await copyBuild(dist)
    const page = path.join(directory, 'index.html')
    const text = await readFile(page, 'utf8')
    await rm(page)
    await runToEnd(command, { args: ['compress', directory], cwd: project })
    await writeFile(page, text)
    const end = await serve(directory)
    expect(end).toMatchObject({ exitCode: 1, output: '' })
    expect(end.errors).toMatch(/^serve-dist: SD_PAGES_UNLISTED: .*index\.html/)
    expect(end.errors).not.toMatch(stackLine)
    const [, cure = ''] = /Run: npx serve-dist (.*)/.exec(end.errors) ?? []
    expect(await runToEnd(command, { args: cure.split(' '), cwd: project })).toMatchObject({ exitCode: 0 })
    const server = await startCommand(command, { args: [directory, '--port', '0'], cwd: project })
    expect((await sendRequest(server.url)).body.toString()).toBe(text)
    expect(await server.stop()).toMatchObject({ errors: '' })
  })

  test('if a copy has no manifest, unless forced: then only siblings that decode are variants', async () => {
    const directory = await copyBuild(dist)
    const [first, second] = await compressedFiles(directory)
    await rm(path.join(directory, '.serve-dist'), { recursive: true })
    await writeFile(path.join(directory, variantPath(second, 'br')), 'of another build')
    const end = await serve(directory)
    expect(end).toMatchObject({ exitCode: 1, output: '' })
    expect(end.errors).toMatch(/^serve-dist: SD_MANIFEST_LOST: /)
    expect(end.errors).toContain('include-hidden-files: true')
    expect(end.errors).not.toMatch(stackLine)

    const args = [directory, '--port', '0', '--force']
    const server = await startCommand(command, { args, cwd: project })
    const codingOf = async (file: string): Promise<string | undefined> => {
      const { headers } = await sendRequest(new URL(file, server.url), {
        headers: { 'accept-encoding': 'br' },
      })
      expect(headers['cache-control']).toBe('no-cache')
      return headers['content-encoding']
    }
    expect([await codingOf(first), await codingOf(second)]).toEqual(['br', undefined])
    const { errors } = await server.stop()
    expect(errors).toContain(`${variantPath(second, 'br')} is not a valid br variant of ${second}`)
    expect(errors).toContain("the plugin's rules, the excluded files and the hashed names")
  })

  test('for the folder above a build, and prints the correct command', async () => {
    const above = await temporaryFolder()
    await cp(dist, path.join(above, 'dist/client'), { recursive: true })
    await mkdir(path.join(above, 'dist/server'))
    await writeFile(
      path.join(above, 'dist/server/entry.mjs'),
      'export default (request) => new Response("made")',
    )
    const end = await runToEnd(command, { args: ['--port', '0'], cwd: above })
    expect(end).toMatchObject({ exitCode: 1, output: '' })
    expect(end.errors).toMatch(/^serve-dist: SD_FOLDER_WRONG: /)
    expect(end.errors).not.toMatch(stackLine)
    const [, meant = ''] = /npx serve-dist (.* --ssr .*)/.exec(end.errors) ?? []
    expect(meant).toBe('dist/client --ssr dist/server/entry.mjs')
    const server = await startCommand(command, { args: [...meant.split(' '), '--port', '0'], cwd: above })
    expect((await sendRequest(server.url)).status).toBe(200)
    expect((await sendRequest(new URL('made', server.url))).body.toString()).toBe('made')
    await server.stop()
  })

  test('if the default folder is missing, and names an existing build', async () => {
    const above = await temporaryFolder()
    await cp(dist, path.join(above, 'build'), { recursive: true })
    const end = await runToEnd(command, { args: ['--port', '0'], cwd: above })
    expect(end).toMatchObject({ exitCode: 1, output: '' })
    expect(end.errors).toMatch(/^serve-dist: SD_BUILD_NOT_FOUND: .*dist: the folder does not exist\. /)
    expect(end.errors).toContain('\n  A build is in build: npx serve-dist build\n')
  })

  test('for an empty folder', async () => {
    const end = await serve(await temporaryFolder())
    expect(end).toMatchObject({ exitCode: 1, output: '' })
    expect(end.errors).toMatch(/^serve-dist: SD_BUILD_NOT_FOUND: .*Build first/)
  })

  test.skipIf(process.platform === 'win32')(
    'for a file that it may not read, and prints the command that makes it readable',
    async () => {
      const directory = await copyBuild(dist)
      const [first] = await compressedFiles(directory)
      await chmod(path.join(directory, first), 0)
      // Root can read everything, so the command runs as another user.
      const isRoot = process.getuid?.() === 0
      const closed = isRoot ? [directory, project].map((inside) => path.dirname(inside)) : []
      for (const folder of closed) await chmod(folder, 0o755)
      const [program, ...words] = isRoot ? [...asNobody, ...command] : command
      if (program === undefined) throw new Error('no command')
      const end = await runToEnd([program, ...words], { args: [directory, '--port', '0'], cwd: directory })
      expect(end).toMatchObject({ exitCode: 1, output: '' })
      expect(end.errors).toMatch(/^serve-dist: SD_FOLDER_UNREADABLE: .* chmod -R a\+rX /)
      expect(end.errors).toContain(`${first}: cannot read this file (EACCES: permission denied)`)
      expect(end.errors).not.toMatch(stackLine)
    },
  )

  test('for an unknown command, and names the nearest; `help` is a command', async () => {
    for (const args of [
      ['complress'],
      ['reprot', 'dist', '--format', 'json'],
      ['compres', '--exclude', 'a'],
    ]) {
      const end = await runToEnd(command, { args, cwd: project })
      expect(end).toMatchObject({ exitCode: 1, output: '' })
      expect(end.errors).toMatch(
        /^serve-dist: SD_OPTION_INVALID: .* Did you mean serve-dist (?:compress|report)\?\n$/,
      )
    }
    const help = await runToEnd(command, { args: ['help'], cwd: project })
    expect(help).toMatchObject({
      exitCode: 0,
      errors: '',
      output: expect.stringMatching(/^Usage: serve-dist \[dir\.\.\.\]/),
    })
    const compress = await runToEnd(command, { args: ['help', 'compress'], cwd: project })
    expect(compress.output).toMatch(/^Usage: serve-dist compress/)
  })

  test('if the port is in use, and explains how to select another', async () => {
    const other = createServer()
    onTestFinished(() => void other.close())
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const address = other.address()
    const port = address !== null && typeof address === 'object' ? String(address.port) : ''
    const end = await runToEnd(command, { args: [dist, '--port', port], cwd: project })
    expect(end).toMatchObject({ exitCode: 1, output: '' })
    expect(end.errors).toContain(port)
    expect(end.errors).toContain('--port')
    expect(end.errors).not.toMatch(stackLine)
  })

  test.each([
    ['--port', 'many'],
    ['--port', '70000'],
    ['--engine', 'sometimes'],
    ['--no-such-option', '1'],
  ])('with %s %s, and names the option', async (flag, value) => {
    const end = await runToEnd(command, { args: [dist, flag, value], cwd: project })
    expect(end.exitCode).toBe(1)
    expect(end.errors).toContain(flag.replace(/^-+/, ''))
    expect(end.errors).not.toMatch(stackLine)
  })
})
