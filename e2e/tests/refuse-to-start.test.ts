import { open, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import path from 'node:path'
import { manifestPath, variantPath } from '@serve-dist/manifest'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { copyBuild } from '../src/copy-build.ts'
import { readManifest } from '../src/read-manifest.ts'
import { type CommandEnd, runToEnd } from '../src/start-command.ts'
import { temporaryFolder } from '../src/temporary-folder.ts'

const { command, dist, project } = inject('packedSpa')
const stackLine = /^\s+at \S/m

function serve(directory: string, ...flags: readonly string[]): Promise<CommandEnd> {
  return runToEnd(command, { args: [directory, '--port', '0', ...flags], cwd: project })
}

/** The first two compressed files of the build, which stand for any. */
async function compressedFiles(directory: string): Promise<readonly [string, string]> {
  const { files } = await readManifest(directory)
  const [first, second] = files.filter(({ variants }) => variants.length === 3)
  if (first === undefined || second === undefined) throw new Error('the build has no compressed files')
  return [first.path, second.path]
}

describe('serve-dist refuses to start', () => {
  test('on a variant that is gone and a file that is cut short, naming both at once', async () => {
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

  test('on a manifest that is cut short', async () => {
    const directory = await copyBuild(dist)
    const text = await readFile(path.join(directory, manifestPath), 'utf8')
    await writeFile(path.join(directory, manifestPath), text.slice(0, text.length / 2))
    const end = await serve(directory)
    expect(end).toMatchObject({ exitCode: 1, output: '' })
    expect(end.errors.replaceAll('\\', '/')).toContain(manifestPath)
    expect(end.errors).not.toMatch(stackLine)
  })

  test('on a manifest with wrong fields, naming the place of each', async () => {
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

  test('with --verify hash on bytes that changed under the same size', async () => {
    const directory = await copyBuild(dist)
    const [first] = await compressedFiles(directory)
    const file = await open(path.join(directory, variantPath(first, 'gzip')), 'r+')
    await file.write('?', 20)
    await file.close()
    const end = await serve(directory, '--verify', 'hash')
    expect(end).toMatchObject({ exitCode: 1, output: '' })
    expect(end.errors).toContain(variantPath(first, 'gzip'))
    expect(end.errors).not.toMatch(stackLine)
  })

  test('on a folder that does not exist', async () => {
    const directory = path.join(await temporaryFolder(), 'nowhere')
    const end = await serve(directory)
    expect(end).toMatchObject({ exitCode: 1, output: '' })
    expect(end.errors).toContain('nowhere')
    expect(end.errors).not.toMatch(stackLine)
  })

  test('on a port that is taken, with the way to another', async () => {
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
    ['--verify', 'sometimes'],
    ['--no-such-option', '1'],
  ])('on %s %s, naming the option', async (flag, value) => {
    const end = await runToEnd(command, { args: [dist, flag, value], cwd: project })
    expect(end.exitCode).toBe(1)
    expect(end.errors).toContain(flag.replace(/^-+/, ''))
    expect(end.errors).not.toMatch(stackLine)
  })
})
