import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { variantPath } from '@serve-dist/manifest'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { copyBuild } from '../src/copy-build.ts'
import { readManifest } from '../src/read-manifest.ts'
import { sendRequest } from '../src/send-request.ts'
import { type RunningCommand, startCommand } from '../src/start-command.ts'
import { temporaryFolder } from '../src/temporary-folder.ts'
import { urlOfFile } from '../src/url-of-file.ts'
import { walkFiles } from '../src/walk-files.ts'

const { command, dist, project } = inject('packedSpa')

async function serve(directory: string): Promise<RunningCommand> {
  const server = await startCommand(command, { args: [directory, '--port', '0'], cwd: project })
  onTestFinished(async () => void (await server.stop()))
  return server
}

/** Larger than the whole memory budget of 64 MiB, so the server streams this body. */
const largeSize = 65 * 1024 * 1024

async function folderWithLargeFile(): Promise<{ directory: string; large: string }> {
  const directory = path.join(await temporaryFolder(), 'site')
  await mkdir(directory)
  await writeFile(path.join(directory, 'index.html'), '<!doctype html><title>small</title>')
  const large = path.join(directory, 'large.bin')
  const file = await open(large, 'w')
  await file.truncate(largeSize)
  await file.close()
  return { directory, large }
}

describe('serve-dist with files that change after its start', () => {
  test.each([
    ['are all deleted', (file: string) => rm(file)],
    ['are all overwritten', (file: string) => writeFile(file, 'another build')],
  ])('still serves all files in memory if they %s', async (_, spoil) => {
    const directory = await copyBuild(dist)
    const { files } = await readManifest(directory)
    const server = await serve(directory)
    for (const name of await walkFiles(directory)) await spoil(path.join(directory, name))
    for (const file of files) {
      for (const coding of [undefined, ...file.variants.map((variant) => variant.coding)]) {
        const original = coding === undefined ? file.path : variantPath(file.path, coding)
        const bytes = await readFile(path.join(dist, original))
        const { status, body } = await sendRequest(urlOfFile(server.url, file.path), {
          headers: { 'accept-encoding': coding ?? 'identity' },
        })
        expect.soft([status, body.equals(bytes)], original).toEqual([200, true])
      }
    }
    expect(server.isAlive()).toBe(true)
  })

  test('streams a file that exceeds its memory budget', async () => {
    const { directory } = await folderWithLargeFile()
    const server = await serve(directory)
    const { status, headers, body } = await sendRequest(new URL('large.bin', server.url))
    expect([status, headers['content-length'], body.length]).toEqual([200, String(largeSize), largeSize])
  })

  test.each([
    ['deleted', (large: string) => rm(large)],
    [
      'replaced by another',
      async (large: string) => {
        await writeFile(`${large}.new`, Buffer.alloc(largeSize, 'x'))
        await rename(`${large}.new`, large)
      },
    ],
  ])('continues to stream an open file that is %s', async (_, change) => {
    const { directory, large } = await folderWithLargeFile()
    const server = await serve(directory)
    const { errors } = server.output()
    await change(large)
    const { status, body } = await sendRequest(new URL('large.bin', server.url))
    expect([status, body.equals(Buffer.alloc(largeSize))]).toEqual([200, true])
    expect(server.output().errors).toBe(errors)
  })

  test.each([
    ['cut short', (large: string) => writeFile(large, 'short')],
    ['overwritten by a longer one', (large: string) => writeFile(large, Buffer.alloc(largeSize + 1, 'x'))],
  ])('answers an error, and no bytes of another build, if a streamed file is %s', async (_, spoil) => {
    const { directory, large } = await folderWithLargeFile()
    const server = await serve(directory)
    await spoil(large)
    const { status, headers } = await sendRequest(new URL('large.bin', server.url))
    expect([404, 500]).toContain(status)
    expect(headers['cache-control']).toBe('no-store')
    expect(headers.etag).toBeUndefined()
    const page = await sendRequest(server.url)
    expect([page.status, page.body.toString()]).toEqual([200, '<!doctype html><title>small</title>'])
    expect(server.isAlive()).toBe(true)
    expect(server.output().errors).toContain('large.bin')
  })
})
