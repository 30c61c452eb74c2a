import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { prepareTree } from '../build/tree.ts'
import { benchDirectory, ownCommand } from '../serve/bench-directory.ts'
import { runProcess } from '../serve/run-process.ts'

/** An application of another project. README.md describes them. */
export interface Application {
  /** The folder with its lockfile and the files that its package leaves out. */
  readonly name: string
  /** Paths in its dependencies that are copied before the build. */
  readonly sources: Readonly<Record<string, string>>
  /** The command line of Node that builds it into a folder `dist`. */
  readonly build: readonly string[]
  readonly change: TextChange
  /** The version in pnpm-workspace.yaml. */
  readonly release: TextChange
}

interface TextChange {
  readonly file: string
  readonly from: string
  readonly to: string
}

export const states = ['as published', 'one line changed', "a dependency's patch release"] as const

export const applications: readonly Application[] = [
  {
    name: 'medusa-admin',
    sources: { 'node_modules/@medusajs/dashboard/src': 'src' },
    build: ['node_modules/vite/bin/vite.js', 'build'],
    change: {
      file: 'src/lib/money-amount-helpers.ts',
      from: 'currencyDisplay: "narrowSymbol",\n    currency: currencyCode,\n  })\n\n  return formatter',
      to: 'currencyDisplay: "code",\n    currency: currencyCode,\n  })\n\n  return formatter',
    },
    release: { file: 'pnpm-workspace.yaml', from: '7.18.2', to: '7.18.3' },
  },
  {
    name: 'slidev',
    sources: { 'node_modules/@slidev/cli/template.md': 'slides.md' },
    build: ['node_modules/@slidev/cli/bin/slidev.mjs', 'build'],
    change: {
      file: 'node_modules/@slidev/client/constants.ts',
      from: 'CLICKS_MAX = 999999',
      to: 'CLICKS_MAX = 1000000',
    },
    release: { file: 'pnpm-workspace.yaml', from: '3.5.44', to: '3.5.45' },
  },
]

/** Builds the states once. Returns a folder with the folders `0`, `1` and `2`. */
export async function buildStates(application: Application, node: string): Promise<string> {
  return await prepareTree({
    name: `deltas-${application.name}`,
    fill: async (folder) => {
      // Outside of this workspace, which has other settings, and of any `node_modules`, whose files are not sources.
      const work = await mkdtemp(join(tmpdir(), 'serve-dist-bench-'))
      try {
        await fill(folder, work, { application, node })
      } finally {
        await rm(work, { recursive: true })
      }
    },
  })
}

async function fill(
  folder: string,
  work: string,
  { application, node }: { application: Application; node: string },
): Promise<void> {
  const { name, sources, build, change, release } = application
  const env = {
    ...process.env,
    PATH: `${dirname(resolve(node))}:${process.env['PATH'] ?? ''}`,
    SERVE_DIST_PLUGIN: join(benchDirectory, '../packages/vite/dist/index.js'),
  }
  const install = async (flag: string): Promise<void> =>
    void (await runProcess('npx', ['--yes', 'pnpm@12', 'install', flag], { cwd: work, env }))
  const finish = async (state: number): Promise<void> => {
    await runProcess(node, build, { cwd: work, env })
    await runProcess(node, [ownCommand, 'compress'], { cwd: work, env })
    await cp(join(work, 'dist'), join(folder, String(state)), { recursive: true, preserveTimestamps: true })
  }
  await cp(join(benchDirectory, 'deltas', name), work, { recursive: true })
  await install('--frozen-lockfile')
  for (const [from, to] of Object.entries(sources)) {
    await cp(join(work, from), join(work, to), { recursive: true })
  }
  await finish(0)
  await replaceIn(work, change)
  await finish(1)
  await replaceIn(work, release)
  await install('--no-frozen-lockfile')
  // The installation restored the published file.
  await replaceIn(work, change)
  await finish(2)
}

async function replaceIn(work: string, { file, from, to }: TextChange): Promise<void> {
  const path = join(work, file)
  const text = (await readFile(path, 'utf8')).replaceAll(from, to)
  if (!text.includes(to)) throw new Error(`${file}: the text is missing: ${from}`)
  await writeFile(path, text)
}
