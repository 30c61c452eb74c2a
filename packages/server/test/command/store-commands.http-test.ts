import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { shortId } from '@serve-dist/foundation/text/short-id'
import { manifestPath, parseManifest } from '@serve-dist/manifest'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const same = `export const same = '${'same '.repeat(200)}'`
const hashed = { immutable: ['assets/**'] }

/** Two builds with identical assets and different pages. */
const [first, second] = [1, 2].map((release) => ({
  'index.html': `<script src="/assets/app-${release}.js"></script>`,
  [`assets/app-${release}.js`]: `console.log(${release})`,
  'assets/same.js': same,
}))
const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`

let folders: readonly string[]
let ids: readonly string[]
beforeAll(async () => {
  folders = [
    await buildFixture(first ?? {}, { serving: hashed }),
    await buildFixture(second ?? {}, { serving: hashed }),
  ]
  ids = await Promise.all(folders.map(idOf))
})

async function idOf(folder: string): Promise<string> {
  return parseManifest(await readFile(join(folder, manifestPath), 'utf8')).buildId
}

async function run(
  ...args: readonly string[]
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return await spawnCommand(args).exited
}

/** Publishes both builds to a new store. The second one is current. */
async function publishBoth(): Promise<string> {
  const store = join(await temporaryDirectory(), 'store')
  for (const folder of folders) expect((await run('publish', folder, '--store', store)).stderr).toBe('')
  return store
}

const short = (index: number): string => shortId(ids[index] ?? '')

describe('serve-dist publish', () => {
  test('reports new, reused, kept and pruned files, and draws no progress without a terminal', async () => {
    const store = join(await temporaryDirectory(), 'store')
    const [one = '', two = ''] = folders
    const before = await run('publish', one, '--store', store, '--dry-run')
    expect(before).toMatchObject({ code: 0, stderr: '' })
    expect(before.stdout).toContain(`would publish ${short(0)} to ${store}; nothing is changed\n`)
    expect(before.stdout).toContain('to send\n')
    await expect(readdir(store)).rejects.toThrow('ENOENT')

    await run('publish', one, '--store', store)
    const { code, stdout, stderr } = await run('publish', two, '--store', store)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(
        new RegExp(`^published ${short(1)} to ${store} in \\d+(\\.\\d)? m?s; it is current now$`),
      ),
      expect.stringMatching(/^ {2}3 files: 2 new, 1 reused; \d objects and \d+ B sent$/),
      expect.stringMatching(/^ {2}returning visitors download at most 2 files, \d+ B$/),
      expect.stringMatching(/^ {2}deltas: none/),
      expect.stringMatching(/^ {2}kept for open tabs and rollbacks: 2 files of 1 earlier build, \d+ B$/),
      '  pruned: nothing',
      '',
    ])
  })

  test('prints JSON of what it did, and of what it would do', async () => {
    const store = await publishBoth()
    const { stdout } = await run('publish', folders[0] ?? '', '--store', store, '--json', '--dry-run')
    expect(JSON.parse(stdout)).toEqual({
      version: 1,
      store,
      id: ids[0],
      files: 3,
      replaced: ids[1],
      wasCurrent: false,
      download: {
        files: 2,
        bytes: expect.any(Number),
        changes: [
          { path: 'index.html', bytes: expect.any(Number) },
          { path: 'assets/app-1.js', bytes: expect.any(Number) },
        ],
      },
      deltas: expect.objectContaining({ made: 0, leftOut: 0 }),
      isDryRun: true,
      new: { files: 0, blobs: 0, bytes: 0 },
      reused: { files: 3, blobs: expect.any(Number), bytes: expect.any(Number) },
      kept: { files: 2, blobs: expect.any(Number), bytes: expect.any(Number) },
      generations: ids,
      pruned: { generations: [], blobs: 0, bytes: 0 },
      warnings: [],
      requests: expect.any(Number),
      milliseconds: expect.any(Number),
    })
    const listed = JSON.parse((await run('generations', '--store', store, '--json')).stdout)
    expect(listed.generations.map(({ id }: { id: string }) => id)).toEqual([ids[1], ids[0]])
  })

  test('reports that a build is already current', async () => {
    const store = await publishBoth()
    const { stdout } = await run('publish', folders[1] ?? '', '--store', store)
    expect(stdout).toMatch(
      /; it was current already\n {2}3 files: 0 new, 3 reused; .*\n {2}deltas: .*\n {2}kept for/,
    )
  })

  test('prunes by its flags, and lists the removed builds', async () => {
    const store = await publishBoth()
    const flags = ['--store', store, '--keep', '0', '--keep-for', '0', '--keep-bytes', '1g']
    const { stdout } = await run('publish', folders[1] ?? '', ...flags)
    expect(stdout).toContain(`pruned: 1 build (${short(0)}), 0 B\n`)
    expect((await run('generations', '--store', store)).stdout).not.toContain(short(0))
  })

  test('takes the store from the environment, and explains how to set it', async () => {
    const store = join(await temporaryDirectory(), 'store')
    const env = { SERVE_DIST_STORE: store }
    const [folder = ''] = folders
    expect((await spawnCommand(['publish', folder], { env }).exited).stdout).toContain(` to ${store} in `)
    expect(await spawnCommand(['publish', folder], { env: { SERVE_DIST_STORE: '' } }).exited).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'serve-dist: SD_OPTION_INVALID: publish needs a store: --store <folder>, --store s3://bucket/prefix, or the environment variable SERVE_DIST_STORE\n',
    })
  })

  test('rejects an empty --store instead of using the current folder', async () => {
    const { code, stderr } = await run('publish', folders[0] ?? '', '--store', '')
    expect([code, stderr.split('\n')[0]]).toEqual([
      1,
      'serve-dist: SD_OPTION_INVALID: --store: expected a folder, or s3://bucket/prefix, found an empty text',
    ])
  })

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('stops cleanly at %s, and names the current build', async (signal, code) => {
    const store = join(await temporaryDirectory(), 'store')
    await run('publish', folders[0] ?? '', '--store', store)
    const many = Array.from({ length: 500 }, (_, index) => [`assets/${index}.js`, String(index)] as const)
    const folder = await buildFixture(Object.fromEntries([...many, ['index.html', 'page']]))
    const blobs = join(store, 'blobs')
    const before = (await readdir(blobs)).length
    const command = spawnCommand(['publish', folder, '--store', store])
    await vi.waitUntil(async () => (await readdir(blobs)).length > before, { timeout: 10_000, interval: 1 })
    command.child.kill(signal)
    const { stdout, stderr, ...end } = await command.exited
    expect({ stdout, stderr, code: end.code }).toEqual({
      stdout: '',
      stderr: `serve-dist: stopped: ${short(0)} is current in ${store} as before. Publish again to upload the missing files.\n`,
      code,
    })
    const { stdout: again } = await run('publish', folder, '--store', store)
    expect(Number(/(\d+) reused/.exec(again)?.[1])).toBeGreaterThan(0)
  })
})

describe('serve-dist generations', () => {
  test('lists the builds in 80 columns, the current one first', async () => {
    const store = await publishBoth()
    const { code, stdout } = await run('generations', '--store', store)
    expect(code).toBe(0)
    const [title = '', ...lines] = stdout.trimEnd().split('\n')
    expect(title.split(/ +/)).toEqual(['id', 'published', 'superseded', 'files', 'bytes'])
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`^${short(1)}  ${time}  - +3 +\\S+ k?B  current$`)),
      expect.stringMatching(new RegExp(`^${short(0)}  ${time}  ${time} +3 +\\S+ k?B$`)),
    ])
    expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80)
  })

  test('reports an empty store, and how to fill it', async () => {
    const store = await temporaryDirectory()
    expect(await run('generations', '--store', store)).toMatchObject({
      code: 1,
      stderr: `serve-dist: SD_GENERATION_MISSING: ${store}: the store has no build. Publish one: serve-dist publish --store ${store}\n`,
    })
  })

  test('is suggested for a misspelt name', async () => {
    const { code, stderr } = await run('generatoins')
    expect([code, stderr]).toEqual([
      1,
      'serve-dist: SD_OPTION_INVALID: unknown command or folder "generatoins". Did you mean serve-dist generations?\n',
    ])
  })
})

describe('serve-dist report --store', () => {
  test('compares the current build with the previous one, and shows the cost for a visitor', async () => {
    const store = await publishBoth()
    const { code, stdout, stderr } = await run('report', '--store', store, '--format', 'json')
    expect([code, stderr]).toEqual([0, ''])
    const { build, comparison, download } = JSON.parse(stdout)
    expect([build.buildId, comparison.against.buildId]).toEqual([ids[1], ids[0]])
    expect(download).toMatchObject({
      files: 2,
      changes: [{ path: 'index.html' }, { path: 'assets/app-2.js' }],
    })
    expect((await run('report', '--store', store)).stdout).toMatch(
      /\na returning visitor downloads at most 2 files: \d+ B in br, /,
    )
  })

  test('shows the first build without a comparison', async () => {
    const store = join(await temporaryDirectory(), 'store')
    await run('publish', folders[0] ?? '', '--store', store)
    const { stdout } = await run('report', '--store', store, '--format', 'json')
    expect(JSON.parse(stdout)).toMatchObject({ build: { buildId: ids[0] }, comparison: null, download: null })
  })

  test('reports an empty store, and rejects a second source of builds', async () => {
    const store = await temporaryDirectory()
    expect((await run('report', '--store', store)).stderr).toBe(
      `serve-dist: SD_GENERATION_MISSING: ${store}: the store has no build. Publish one: serve-dist publish --store ${store}\n`,
    )
    const { code, stderr } = await run('report', 'dist', '--against', 'other', '--store', store)
    expect(code).toBe(1)
    expect(stderr).toContain('the folder dist cannot be combined with --store, which supplies both builds')
    expect(stderr).toContain('--against cannot be combined with --store, which supplies both builds')
  })
})

describe('serve-dist rollback', () => {
  test('returns to the previous build, supports --dry-run, and fails if no earlier build is kept', async () => {
    const store = await publishBoth()
    const again = `${short(0)}, published `
    const trial = await run('rollback', '--store', store, '--dry-run')
    expect(trial.stdout).toContain(
      `UTC, would be current in ${store} again, instead of ${short(1)}; nothing is changed\n`,
    )
    const { code, stdout } = await run('rollback', '--store', store)
    expect(code).toBe(0)
    expect(stdout).toContain(again)
    expect(stdout).toContain(`UTC, is current in ${store} again, instead of ${short(1)}\n`)
    const published = new RegExp(`${again}(${time}) UTC`).exec(stdout)?.[1]
    const listed = (await run('generations', '--store', store)).stdout
    expect(listed).toContain(`${short(0)}  ${published}  -`)
    expect(listed).toMatch(new RegExp(`^${short(0)}: restored ${time}$`, 'm'))
    expect(await run('rollback', '--store', store)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^serve-dist: SD_GENERATION_MISSING: .*no build from before/),
    })
  })

  test('returns to a build by a prefix of its id', async () => {
    const store = await publishBoth()
    const beginning = ids[0]?.slice(0, 4) ?? ''
    const { stdout } = await run('rollback', beginning, '--store', store, '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      version: 1,
      store,
      id: ids[0],
      replaced: ids[1],
      isDryRun: false,
    })
    expect((await run('rollback', 'ffff0000', '--store', store)).stderr).toContain(
      'there is no build ffff0000',
    )
  })

  test('rejects an empty id, which an unset variable may cause', async () => {
    const { code, stderr } = await run('rollback', '', '--store', await publishBoth())
    expect([code, stderr.split('\n')[0]]).toEqual([
      1,
      'serve-dist: SD_OPTION_INVALID: the build id is empty. Run serve-dist generations to list the ids.',
    ])
  })
})

describe('serve-dist purge', () => {
  test('removes a build, and reports which tabs break', async () => {
    const store = await publishBoth()
    const about = new RegExp(
      `^would purge ${short(0)} from ${store}: \\d objects, \\d+ B; nothing is changed\n  1 hashed file in no other build: tabs that were opened\n  before ${time} UTC break if they request one\n$`,
    )
    expect((await run('purge', short(0), '--store', store, '--dry-run')).stdout).toMatch(about)
    const { stdout } = await run('purge', short(0), '--store', store, '--json')
    expect(JSON.parse(stdout)).toMatchObject({ version: 1, id: ids[0], isDryRun: false, hashedFiles: 1 })
    expect((await run('generations', '--store', store)).stdout).not.toContain(short(0))
  })

  test('refuses to remove the current build', async () => {
    const { code, stderr } = await run('purge', short(1), '--store', await publishBoth())
    expect(code).toBe(1)
    expect(stderr).toMatch(/is current\. Roll back or publish another build, then purge it\.\n$/)
  })
})
