import { chmod, chown, mkdir, readdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { shortId } from '@serve-dist/foundation/text/short-id'
import { describe, expect, test, vi } from 'vitest'
import { publishFiles } from '../support/publish-files.ts'
import { type RunningCommand, spawnCommand } from '../support/spawn-command.ts'
import { endCommand } from '../support/stop-command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

interface Fixture {
  readonly folder: string
  readonly store: string
  readonly words: readonly string[]
}

async function makeStore(): Promise<Fixture> {
  const folder = await temporaryDirectory()
  const store = join(folder, 'store')
  await mkdir(store)
  await publishFiles(store, { 'index.html': 'first' })
  return { folder, store, words: ['--store', store, '--store-cache', join(folder, 'cache'), '--port', '0'] }
}

async function expectPage({ listening }: RunningCommand, page: string): Promise<void> {
  const { url } = await listening
  await vi.waitFor(async () => expect(await (await fetch(url)).text()).toBe(page))
}

describe('serve-dist --store', () => {
  test('serves the current build, and reports each change', async () => {
    const { store, words } = await makeStore()
    const command = spawnCommand(words)
    await expectPage(command, 'first')
    const { buildId } = await publishFiles(store, { 'index.html': 'second' })
    await expectPage(command, 'second')
    expect(await endCommand(command)).toContain(`serve-dist: now serving build ${shortId(buildId)} (was`)
  })

  test('checks the store at once at SIGHUP', async () => {
    const { store, words, folder } = await makeStore()
    const command = spawnCommand(words)
    await expectPage(command, 'first')
    command.child.kill('SIGHUP')
    await vi.waitFor(() => expect(command.complaints()).toContain('is already being served'))
    await rename(store, join(folder, 'away'))
    command.child.kill('SIGHUP')
    await vi.waitFor(() =>
      expect(command.complaints()).toContain(
        'current.json no longer exists. Check the credentials or the mount, or publish a build.',
      ),
    )
    await expectPage(command, 'first')
    await endCommand(command)
  })

  test('starts from a partial cache after it was killed', async () => {
    const { store, words, folder } = await makeStore()
    const chunks = Array.from({ length: 300 }, (_each, index) => [
      `chunk-${index}.js`,
      `export default ${index}`,
    ])
    await publishFiles(store, { 'index.html': 'many', ...Object.fromEntries(chunks) })
    const countBlobs = async (): Promise<number> => {
      const [own = ''] = await readdir(join(folder, 'cache'))
      return (await readdir(join(folder, 'cache', own, 'blobs'))).length
    }
    for (const least of [1, 50, 200]) {
      const command = spawnCommand(words)
      await vi.waitFor(async () => expect(await countBlobs()).toBeGreaterThan(least), {
        interval: 1,
        timeout: 15_000,
      })
      command.child.kill('SIGKILL')
      await command.exited
    }
    const command = spawnCommand(words)
    await expectPage(command, 'many')
    const { url } = await command.listening
    expect(await (await fetch(new URL('chunk-299.js', url))).text()).toBe('export default 299')
    await endCommand(command)
  })

  test('fails to start together with a folder', async () => {
    const { words } = await makeStore()
    const { code, stderr } = await spawnCommand(['dist', ...words]).exited
    expect(code).toBe(1)
    expect(stderr).toBe(
      'serve-dist: SD_OPTION_INVALID: the folder dist cannot be combined with --store. Remove one of them.\n',
    )
  })

  test('warns about flags without effect', async () => {
    const { words } = await makeStore()
    const flags = ['--watch', '--fs-fallback', '--verify', '--force']
    const command = spawnCommand([...words, ...flags])
    await expectPage(command, 'first')
    const complaints = (await endCommand(command))
      .split('\n')
      .filter((line) => line.includes('has no effect'))
    const named = complaints.map((line) => /(--[a-z-]+) has no effect with --store/.exec(line)?.[1])
    expect(new Set(named)).toEqual(new Set(flags))
  })
})

// Only root can start processes as other users.
describe.runIf(process.geteuid?.() === 0)('the store cache of a user other than root', () => {
  const [ours, other] = [1000, 1001]

  test('may be in a volume that belongs to root and that every user may write', async () => {
    const { words, cache } = await makeOpenStore()
    await chmod(cache, 0o777)
    const command = spawnCommand(words, { user: ours })
    await expectPage(command, 'first')
    expect(await endCommand(command)).toBe('')
    const [name = ''] = await readdir(cache)
    expect(await stat(join(cache, name))).toMatchObject({ uid: ours, mode: 0o40_700 })
  })

  test('may be in its own folder that other users may read, as systemd creates it', async () => {
    const { words, cache } = await makeOpenStore()
    await chown(cache, ours, ours)
    const command = spawnCommand(words, { user: ours })
    await expectPage(command, 'first')
    expect(await endCommand(command)).toBe('')
  })

  test('is not used if another user created it in a shared folder', async () => {
    const { words, cache } = await makeOpenStore()
    await chmod(cache, 0o1777)
    const command = spawnCommand(words, { user: other })
    await expectPage(command, 'first')
    await endCommand(command)
    const { code, stderr } = await spawnCommand(words, { user: ours }).exited
    expect(code).toBe(1)
    expect(stderr).toContain('SD_CACHE_UNUSABLE')
    expect(stderr).toContain(`it belongs to user ${other}, but serve-dist runs as user ${ours}`)
    // This also holds for the default folder.
    const [name = ''] = await readdir(cache)
    const home = join(cache, 'home')
    await mkdir(join(home, '.cache', 'serve-dist', name), { recursive: true })
    const env = { HOME: home, XDG_CACHE_HOME: '' }
    const again = await spawnCommand(withoutCache(words), { user: ours, env }).exited
    expect(again.stderr).toContain('it belongs to user 0')
  })

  test('names the flag if the user cannot write to the folder', async () => {
    const { words, cache } = await makeOpenStore()
    const env = { HOME: cache, XDG_CACHE_HOME: '' }
    const { stderr } = await spawnCommand(withoutCache(words), { user: ours, env }).exited
    expect(stderr).toContain('Use another folder: --store-cache <dir>')
  })
})

function withoutCache(words: readonly string[]): readonly string[] {
  const at = words.indexOf('--store-cache')
  return words.toSpliced(at, 2)
}

/** Creates folders that belong to root and that every user may enter. */
async function makeOpenStore(): Promise<Fixture & { readonly cache: string }> {
  const fixture = await makeStore()
  const cache = join(fixture.folder, 'cache')
  await chmod(fixture.folder, 0o755)
  await mkdir(cache)
  return { ...fixture, cache }
}
