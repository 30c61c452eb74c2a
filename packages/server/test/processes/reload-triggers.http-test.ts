import { cp, mkdir, readdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { manifestPath } from '@serve-dist/manifest'
import { precompress } from '@serve-dist/precompress'
import { describe, expect, test, vi } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { readChildProcessIds } from '../support/read-child-process-ids.ts'
import { openConnection } from '../support/open-connection.ts'
import { rawRequest } from '../support/raw-request.ts'
import { type RunningCommand, spawnCommand } from '../support/spawn-command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

interface Served {
  readonly directory: string
  readonly command: RunningCommand
  readonly page: () => Promise<string>
}

async function start(flags: readonly string[] = [], folder?: string): Promise<Served> {
  const directory = folder ?? (await buildFixture({ 'index.html': 'first' }))
  const command = spawnCommand([directory, '--port', '0', ...flags])
  const { port } = await command.listening
  const page = async (): Promise<string> => (await rawRequest(port)).body.toString()
  return { directory, command, page }
}

/** Builds like Vite by default: it empties the folder first. */
async function rebuild(directory: string, page: string): Promise<void> {
  await rm(directory, { recursive: true })
  await mkdir(directory)
  await writeFile(join(directory, 'index.html'), page)
  await precompress(directory)
}

async function stop({ command: { child, exited } }: Served): Promise<number | null> {
  child.kill('SIGTERM')
  return (await exited).code
}

const patience = { timeout: 10_000 }

describe.skipIf(process.platform === 'win32')('SIGHUP', () => {
  test('does not end the process if stderr has no reader, nor during a stop', async () => {
    const served = await start()
    served.command.child.stderr?.destroy()
    await rebuild(served.directory, 'second')
    served.command.child.kill('SIGHUP')
    await vi.waitFor(async () => expect(await served.page()).toBe('second'), patience)
    const connection = await openConnection((await served.command.listening).port)
    connection.send('GET / HTTP/1.1\r\n')
    served.command.child.kill('SIGTERM')
    served.command.child.kill('SIGHUP')
    connection.send('Host: a\r\n\r\n')
    expect((await connection.receive()).body.toString()).toBe('second')
    expect((await served.command.exited).code).toBe(0)
  })

  test.each([
    ['one process', [], 1],
    ['two workers', ['--workers', '2'], 2],
  ])('takes effect after the start if it arrives during the start, %s', async (_what, flags, count) => {
    const signs = await temporaryDirectory()
    const go = join(signs, 'go')
    const module = join(signs, 'entry.mjs')
    await writeFile(
      module,
      `import { existsSync, writeFileSync } from 'node:fs'
      writeFileSync(${JSON.stringify(join(signs, 'loading-'))} + process.pid, '')
      while (!existsSync(${JSON.stringify(go)})) await new Promise((resolve) => setTimeout(resolve, 5))
      export default (request, response) => response.end('application')`,
    )
    const directory = await buildFixture({ 'index.html': 'first' })
    const command = spawnCommand([directory, '--port', '0', '--ssr', module, ...flags])
    const loading = async (): Promise<number> =>
      (await readdir(signs)).filter((name) => name.startsWith('loading-')).length
    // Each process loads its build before its module.
    await vi.waitUntil(async () => (await loading()) === count, patience)
    await rebuild(directory, 'second')
    for (const worker of await readChildProcessIds(command.child.pid)) process.kill(worker, 'SIGHUP')
    command.child.kill('SIGHUP')
    await writeFile(go, '')
    const { port } = await command.listening
    const page = async (): Promise<string> => (await rawRequest(port)).body.toString()
    await vi.waitFor(async () => expect(await page()).toBe('second'), patience)
    await vi.waitFor(() => expect(command.complaints()).toMatch(/now serving|already being served/), patience)
    expect(await stop({ directory, command, page })).toBe(0)
  })

  test('does not end a process that has not loaded its modules yet', async () => {
    const hangUp = `
      const look = (name) => {
        if (name !== 'SIGINT') return
        process.off('newListener', look)
        setImmediate(() => process.kill(process.pid, 'SIGHUP'))
      }
      process.on('newListener', look)`
    const command = spawnCommand([await buildFixture({ 'index.html': 'page' }), '--port', '0'], {
      nodeOptions: ['--import', `data:text/javascript,${encodeURIComponent(hangUp)}`],
    })
    await command.listening
    command.child.kill('SIGTERM')
    expect((await command.exited).code).toBe(0)
  })

  test('serves the current build of the folder, and prints its ID', async () => {
    const served = await start()
    await rebuild(served.directory, 'second')
    expect(await served.page()).toBe('first')
    served.command.child.kill('SIGHUP')
    await vi.waitFor(async () => expect(await served.page()).toBe('second'), patience)
    await vi.waitFor(
      () =>
        expect(served.command.complaints()).toMatch(
          /^serve-dist: now serving build \w{12} \(was \w{12}\)\n$/,
        ),
      patience,
    )
    served.command.child.kill('SIGHUP')
    await vi.waitFor(
      () =>
        expect(served.command.complaints()).toMatch(/\nserve-dist: build \w{12} is already being served\n$/),
      patience,
    )
    expect(await stop(served)).toBe(0)
  })

  test('rejects an incomplete build with all its problems, and keeps serving', async () => {
    const served = await start()
    await rebuild(served.directory, 'second')
    await truncate(join(served.directory, 'index.html'), 2)
    served.command.child.kill('SIGHUP')
    await vi.waitFor(
      () =>
        expect(served.command.complaints()).toMatch(
          /^serve-dist: reload refused, still serving \w{12}:\n.*1 file differs from the manifest.*\n {2}Deploy .*\n {2}index\.html: has 2 bytes, the manifest says 6\n$/,
        ),
      patience,
    )
    expect(await served.page()).toBe('first')
    expect(await stop(served)).toBe(0)
  })
})

describe('--watch', () => {
  test('continues while the folder is a circular link, and loads the next build', async () => {
    const folder = await temporaryDirectory()
    const link = join(folder, 'dist')
    await symlink(await buildFixture({ 'index.html': 'first' }), link)
    const served = await start(['--watch'], link)
    await rm(link)
    await symlink(link, link)
    // Each check finds the circular link. The next build shows that the checks continue.
    await served.page()
    const next = join(folder, 'next')
    await symlink(await buildFixture({ 'index.html': 'second' }), next)
    await rename(next, link)
    await vi.waitFor(async () => expect(await served.page()).toBe('second'), patience)
    expect(await stop(served)).toBe(0)
  })

  test('serves a new build in the same folder, and a third one', async () => {
    const served = await start(['--watch'])
    for (const page of ['second', 'third']) {
      await rebuild(served.directory, page)
      await vi.waitFor(async () => expect(await served.page()).toBe(page), patience)
    }
    expect(served.command.complaints()).not.toContain('refused')
    expect(await stop(served)).toBe(0)
  })

  test.skipIf(process.platform === 'win32')('serves the build that a link now refers to', async () => {
    const releases = await temporaryDirectory()
    await cp(await buildFixture({ 'index.html': 'first' }), join(releases, '1'), { recursive: true })
    await cp(await buildFixture({ 'index.html': 'second' }), join(releases, '2'), { recursive: true })
    const link = join(releases, 'current')
    await symlink('1', link)
    const served = await start(['--watch'], link)
    await symlink('2', `${link}.new`)
    await rename(`${link}.new`, link)
    await rm(join(releases, '1'), { recursive: true })
    await vi.waitFor(async () => expect(await served.page()).toBe('second'), patience)
    expect(await stop(served)).toBe(0)
  })

  test('keeps serving without a message while the manifest is missing', async () => {
    const served = await start(['--watch'])
    await rm(join(served.directory, manifestPath))
    await rm(join(served.directory, 'index.html'))
    expect(await served.page()).toBe('first')
    await rebuild(served.directory, 'second')
    await vi.waitFor(async () => expect(await served.page()).toBe('second'), patience)
    expect(await stop(served)).toBe(0)
    expect(served.command.complaints()).toMatch(/^serve-dist: now serving build \w{12}[^\n]*\n$/)
  })

  test('retries a build whose files arrive after its manifest, and reports it once', async () => {
    const served = await start(['--watch'])
    const next = await buildFixture({ 'index.html': 'second', 'late.txt': 'late' })
    await rm(join(served.directory, manifestPath))
    await cp(join(next, 'index.html'), join(served.directory, 'index.html'))
    // rsync copies in this order.
    await cp(join(next, manifestPath), join(served.directory, `${manifestPath}.new`))
    await rename(join(served.directory, `${manifestPath}.new`), join(served.directory, manifestPath))
    await vi.waitFor(() => expect(served.command.complaints()).toContain('late.txt: is missing'), patience)
    expect(await served.page()).toBe('first')
    await cp(join(next, 'late.txt'), join(served.directory, 'late.txt'))
    await vi.waitFor(async () => expect(await served.page()).toBe('second'), patience)
    expect(served.command.complaints().match(/refused/g)).toHaveLength(1)
    expect(await stop(served)).toBe(0)
  })
})
