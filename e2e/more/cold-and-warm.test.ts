import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { runToEnd } from '../src/start-command.ts'
import { temporaryFolder } from '../src/temporary-folder.ts'
import { walkFiles } from '../src/walk-files.ts'

const examples = fileURLToPath(new URL('../../examples', import.meta.url))

/** Builds with the project's own Vite and configuration, but with other folders. */
const program = `
const { build } = await import('vite')
const [outDir] = process.argv.slice(1)
await build({ logLevel: 'error', build: { outDir, emptyOutDir: true } })
`

async function build(example: string, dist: string): Promise<string> {
  const end = await runToEnd([process.execPath, '--input-type=module', '--eval', program], {
    args: [dist],
    cwd: path.join(examples, example),
    // Without it, each build has different times.
    environment: { SOURCE_DATE_EPOCH: '1700000000' },
  })
  expect(end).toMatchObject({ exitCode: 0 })
  return dist
}

/** Returns the digest of every file, including variants and the manifest. */
async function digestsIn(dist: string): Promise<Record<string, string>> {
  const digests = (await walkFiles(dist)).map(async (name) => {
    const bytes = await readFile(path.join(dist, name))
    return [name, createHash('sha256').update(bytes).digest('hex')] as const
  })
  return Object.fromEntries(await Promise.all(digests))
}

describe('@serve-dist/vite', () => {
  test.each(['spa', 'editor', 'multi-page', 'ssr'])(
    'builds examples/%s with the same bytes from a full cache and from an empty one',
    async (example) => {
      const project = await temporaryFolder()
      // The cache belongs to the package that contains the folder.
      await writeFile(path.join(project, 'package.json'), '{}')
      const cold = await build(example, path.join(project, 'cold'))
      expect(await walkFiles(path.join(project, 'node_modules/.cache/serve-dist'))).not.toEqual([])
      const warm = await build(example, path.join(project, 'warm'))
      const digests = await digestsIn(cold)
      expect(Object.keys(digests)).toContain('.serve-dist/manifest.json')
      expect(await digestsIn(warm)).toEqual(digests)
    },
  )
})
