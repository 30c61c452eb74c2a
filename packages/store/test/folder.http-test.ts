import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { canMountFolders, mountFolder } from '../../precompress/test/support/mount-folder.ts'
import { temporaryDirectory } from '../../server/test/support/temporary-directory.ts'
import { lockFolder } from '../src/folder/lock-folder.ts'
import { openStore } from '../src/index.ts'
import { textAt } from './support/read-store.ts'

const canMount = await canMountFolders()
const running = new Set<ChildProcess>()
afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
})

interface Script {
  readonly child: ChildProcess
  /** The lines that the process has printed. */
  readonly lines: () => readonly string[]
  /** Resolves after the next line or the end of the process. */
  readonly said: () => Promise<void>
  readonly ended: Promise<unknown>
}

function start(name: string, ...args: readonly string[]): Script {
  const program = fileURLToPath(new URL(`support/${name}.mjs`, import.meta.url))
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  running.add(child)
  const ended = once(child, 'close').then(() => running.delete(child))
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    output += part
    child.emit('said')
  })
  const said = async (): Promise<void> => void (await Promise.race([once(child, 'said'), ended]))
  return { child, lines: () => output.split('\n').slice(0, -1), said, ended }
}

const limits = { lifeless: 60_000, patience: 500 }

describe('a store in a folder', () => {
  test('loses no write of 8 concurrent processes', async () => {
    const folder = await temporaryDirectory()
    const scripts = Array.from({ length: 8 }, () => start('increment-stored-number', folder, '12'))
    await Promise.all(scripts.map(async ({ ended }) => await ended))
    const written = scripts.flatMap(({ lines }) => lines()).map(Number)
    expect(written.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 96 }, (_, index) => index + 1))
    expect(await readFile(join(folder, 'current.json'), 'utf8')).toBe('96')
    expect(await readdir(join(folder, '.writing'))).toEqual([])
  })

  test.runIf(process.platform === 'linux')('fails if the system does not allow new folders', async () => {
    // The `recursive` option of `mkdir` in Node.js never returns here.
    const store = await openStore('/proc/serve-dist/store')
    await expect(store.put('current.json', Buffer.from('1'))).rejects.toMatchObject({
      code: 'SD_STORE_UNAVAILABLE',
      message: expect.stringContaining('/proc/serve-dist: cannot create the store folder (ENOENT'),
    })
  })

  test('names a file that has the path of a needed folder', async () => {
    const file = join(await temporaryDirectory(), 'file')
    await writeFile(file, 'text')
    const store = await openStore(join(file, 'store'))
    await expect(store.put('current.json', Buffer.from('1'))).rejects.toMatchObject({
      code: 'SD_STORE_UNAVAILABLE',
      message: expect.stringContaining(`${file}: cannot create the store folder (`),
    })
  })

  test('loses no write if writers are killed', async () => {
    const folder = await temporaryDirectory()
    const lasting = Array.from({ length: 3 }, () => start('increment-stored-number', folder, '15'))
    for (let round = 0; round < 8; round += 1) {
      const doomed = start('increment-stored-number', folder, '1000')
      await doomed.said()
      doomed.child.kill('SIGKILL')
      await doomed.ended
      lasting.push(doomed)
    }
    await Promise.all(lasting.map(async ({ ended }) => await ended))
    const written = lasting.flatMap(({ lines }) => lines()).map(Number)
    expect(new Set(written).size).toBe(written.length)
    // A killed process may have written a number without printing it.
    const last = Number(await readFile(join(folder, 'current.json'), 'utf8'))
    expect(last).toBeGreaterThanOrEqual(written.length)
    expect(last).toBeLessThanOrEqual(written.length + 8)
  })

  test('waits for a held lock and takes it immediately from a killed process', async () => {
    const lock = join(await temporaryDirectory(), '.lock')
    const holder = start('hold-lock', lock)
    await holder.said()
    expect(holder.lines()).toEqual(['held'])
    await expect(lockFolder(lock, async () => 'taken', limits)).rejects.toThrow(
      new RegExp(`\\.lock: process ${holder.child.pid} on .* holds the lock`),
    )
    holder.child.kill('SIGKILL')
    await holder.ended
    expect(await lockFolder(lock, async () => 'taken', limits)).toBe('taken')
  })

  test('takes a lock from another machine when its heartbeat stops', async () => {
    const lock = join(await temporaryDirectory(), '.lock')
    await mkdir(lock)
    await writeFile(join(lock, '00000001'), 'held other/boot/pid:[1] 7 99\n')
    await expect(lockFolder(lock, async () => 'taken', limits)).rejects.toThrow(
      'process 7 on other holds the lock',
    )
    const old = new Date(Date.now() - 70_000)
    await utimes(join(lock, '00000001'), old, old)
    expect(await lockFolder(lock, async () => 'taken', limits)).toBe('taken')
  })

  test('takes a lock that an earlier process with the same number held', async () => {
    const lock = join(await temporaryDirectory(), '.lock')
    await lockFolder(lock, async () => {})
    const [name = ''] = await readdir(lock)
    const own = (await readFile(join(lock, name), 'utf8')).replace(/^free/, 'held')
    await writeFile(join(lock, name), own)
    await expect(lockFolder(lock, async () => 'taken', limits)).rejects.toThrow(`process ${process.pid} on`)
    await writeFile(join(lock, name), own.replace(/\d+\n$/, '1\n'))
    // Only Linux reports start times. Other systems need an old heartbeat.
    const old = new Date(Date.now() - 70_000)
    await utimes(join(lock, name), old, old)
    expect(await lockFolder(lock, async () => 'taken', limits)).toBe('taken')
  })

  test('tells the holder that its lock was taken', async () => {
    const lock = join(await temporaryDirectory(), '.lock')
    const held = lockFolder(lock, async (confirm) => {
      await writeFile(join(lock, '00000002'), 'held other/boot/pid:[1] 7 99\n')
      await confirm()
    })
    await expect(held).rejects.toMatchObject({ code: 'SD_STORE_CONFLICT' })
  })

  test('keeps few lock files', async () => {
    const folder = await temporaryDirectory()
    const store = await openStore(folder)
    for (let round = 0; round < 30; round += 1) {
      await store.put('current.json', Buffer.from(String(round)), { replaces: 'none of them' })
    }
    expect((await readdir(join(folder, '.lock'))).length).toBeLessThan(12)
  })

  test("uses the folder's clock if this machine's clock is wrong", async () => {
    const store = await openStore(await temporaryDirectory())
    const right = Date.now()
    vi.useFakeTimers({ toFake: ['Date'], now: right + 2 * 60 * 60 * 1000 })
    onTestFinished(() => void vi.useRealTimers())
    await store.honoursConditions()
    const written = await store.put('current.json', Buffer.from('x'), { replaces: null })
    const object = await store.read('current.json')
    for (const seen of [written, object]) {
      if (typeof seen !== 'object') throw new Error('not there')
      expect(Math.abs(seen.time - right)).toBeLessThan(10_000)
    }
  })

  test('removes files that killed writers left a day ago', async () => {
    const folder = await temporaryDirectory()
    const store = await openStore(folder)
    await mkdir(join(folder, '.writing'))
    const old = new Date(Date.now() - 25 * 60 * 60 * 1000)
    for (const name of ['old', 'new']) await writeFile(join(folder, '.writing', name), 'x')
    await utimes(join(folder, '.writing', 'old'), old, old)
    await store.put('current.json', Buffer.from('x'), { replaces: null })
    expect(await readdir(join(folder, '.writing'))).toEqual(['new'])
  })

  test('reads through a link to its folder, and reads only files', async () => {
    const folder = await temporaryDirectory()
    const link = join(await temporaryDirectory(), 'link')
    await symlink(folder, link)
    const store = await openStore(link)
    await store.put('blobs/x', Buffer.from('x'))
    expect(await textAt(store, 'blobs/x')).toBe('x')
    await expect(store.read('blobs')).rejects.toThrow(/cannot read blobs \(not a regular file\)/)
  })

  test.skipIf(process.platform === 'win32')('does not wait for the writer of a FIFO', async () => {
    const folder = await temporaryDirectory()
    await promisify(execFile)('mkfifo', [join(folder, 'current.json')])
    const store = await openStore(folder)
    await expect(store.read('current.json')).rejects.toThrow(
      /cannot read current.json \(not a regular file\)/,
    )
  })

  test.runIf(process.getuid?.() === 0)('reports missing permissions', async () => {
    const folder = await temporaryDirectory()
    await (await openStore(folder)).put('blobs/x', Buffer.from('x'))
    await chmod(folder, 0o755)
    const asNobody = async (verb: string): Promise<string> => {
      const program = fileURLToPath(new URL('support/call-store-method.mjs', import.meta.url))
      const nobody = { uid: 65_534, gid: 65_534 }
      const child = spawn(process.execPath, [program, folder, verb], { ...nobody, cwd: '/' })
      const [said] = await Promise.all([text(child.stdout), once(child, 'close')])
      return said.trim()
    }
    expect(await asNobody('read')).toBe('1')
    expect(await asNobody('put')).toBe(
      `SD_STORE_UNAVAILABLE ${folder}: cannot put blobs/x (EACCES: permission denied)`,
    )
    expect(await asNobody('delete')).toBe(
      `SD_STORE_UNAVAILABLE ${folder}: cannot delete blobs/x (EACCES: permission denied)`,
    )
    await chmod(join(folder, 'blobs'), 0o700)
    expect(await asNobody('read')).toBe(
      `SD_STORE_UNAVAILABLE ${folder}: cannot read blobs/x (EACCES: permission denied)`,
    )
    expect(await asNobody('list')).toBe(
      `SD_STORE_UNAVAILABLE ${folder}: cannot list blobs/ (EACCES: permission denied)`,
    )
  })

  test.runIf(canMount)(
    'reports a full disk, keeps its objects, and continues when there is space',
    async () => {
      const folder = await temporaryDirectory()
      await mountFolder(folder, '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs')
      const store = await openStore(folder)
      await store.put('current.json', Buffer.from('1'))
      await expect(store.put('blobs/large', Buffer.alloc(2_000_000))).rejects.toMatchObject({
        code: 'SD_STORE_UNAVAILABLE',
        message: `${folder}: cannot put blobs/large (ENOSPC: no space left on device)`,
      })
      expect(await readdir(join(folder, '.writing'))).toEqual([])
      await writeFile(join(folder, 'filler'), Buffer.alloc(1_000_000)).catch(() => undefined)
      await writeFile(join(folder, 'filler2'), Buffer.alloc(100_000)).catch(() => undefined)
      await expect(store.put('current.json', Buffer.from('2'), { replaces: null })).rejects.toThrow('ENOSPC')
      expect(await textAt(store, 'current.json')).toBe('1')
      await store.delete('filler')
      expect(await store.put('current.json', Buffer.from('2'))).not.toBe('conflict')
    },
  )
})
