import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Block, blocksOf } from '../../../scripts/document-blocks.mjs'
import { runCommand } from '../../../scripts/run-command.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Patterns of blocks, or of their lines, that these tests do not run, with the reasons. */
export const notRun: readonly (readonly [RegExp, string])[] = [
  [/pnpm@12/, 'the gate itself'],
  [/^docker /, 'wants a Docker daemon: the nightly workflow builds and runs the images'],
  [/^cosign /, 'wants a published image'],
  [/^systemctl /, 'wants systemd as process 1: deploy-files.test.ts has systemd-analyze read the units'],
  [/^kubectl /, 'wants a cluster'],
  [
    /^npx (netlify|wrangler) /,
    "want an account: pages-folder.test.ts has Netlify's parsers read what they upload",
  ],
  [/--store s3:\/\//, 'wants a bucket: the tests of packages/store run a real S3 server'],
  [/reload\.sh PID/, 'reload-script.http-test.ts runs it'],
  [/^deno run/, 'the block before it is run by its flags'],
  [/serve-dist carry https/, 'wants a site: carry.http-test.ts has several'],
  [/sharedCache: true/, 'deltas-behind-proxies.slow-test.ts serves by it, to caches of others'],
  [/VitePWA/, 'other-plugins.build-test.ts builds with them'],
  [
    /qwik|astro|vitepress|nuxt|adapter-|react-?router|vite-ssg|serve-dist build$/i,
    'e2e/frameworks builds with the frameworks, and serves',
  ],
]

export function isNotRun(text: string): boolean {
  return notRun.some(([pattern]) => pattern.test(text))
}

/** All code blocks in documents for users. */
export const blocks: readonly Block[] = await readBlocks()

export function blocksIn(...languages: readonly string[]): readonly Block[] {
  return blocks.filter(({ language }) => languages.includes(language))
}

/** Returns the commands of a block, without comments. */
export function linesOf(block: Block | undefined): readonly string[] {
  return (block?.code ?? '')
    .split('\n')
    .map((line) => line.replace(/\s+#.*/, ''))
    .filter((line) => line !== '')
}

async function readBlocks(): Promise<Block[]> {
  // The tests e2e/further/migrate-* follow the pages of docs/migrate.
  const patterns = ['README.md', 'docs/*.md', 'packages/*/README.md', ':!docs/decisions', ':!docs/migrate']
  const listed = await runCommand(['git', 'ls-files', ...patterns], { cwd: root, isQuiet: true })
  const documents = listed.output
    .trim()
    .split('\n')
    .map(async (name) => {
      return blocksOf({ path: name, text: await readFile(path.join(root, name), 'utf8') })
    })
  return (await Promise.all(documents)).flat()
}
