import type * as newest from 'vite'
import type { InlineConfig, Rolldown } from 'vite'
import { onTestFinished } from 'vitest'
import serveDist from '../../src/index.ts'
import type { Project } from './project.ts'
import { type RawAnswer, type RawRequest, request } from './request.ts'

/** The part of Vite's module that the tests use. The types are those of the newest version. */
type Vite = Pick<typeof newest, 'build' | 'createBuilder' | 'createServer' | 'preview'>

/** Versions of Vite as `8` or `6,7`. `verify` uses only the newest, `verify:all` the others. */
const majors = (process.env['SERVE_DIST_VITES'] ?? '6,7,8').split(',')

/** Returns whether this run tests a version, such as `Vite 8`. */
export function isChosen({ name }: { readonly name: string }): boolean {
  return majors.includes(name.slice('Vite '.length))
}

/** Sends a request to a server. */
export type Ask = (path: string, options?: RawRequest) => Promise<RawAnswer>

/** A major version of Vite. By default, its configurations contain only the plugin. */
export interface TestedVite {
  readonly name: string
  readonly load: () => Promise<Vite>
  readonly build: (project: Project, config?: InlineConfig) => ReturnType<Vite['build']>
  /** Builds all environments. */
  readonly buildApp: (project: Project, config: InlineConfig) => Promise<void>
  /** Builds after each change until the test ends. */
  readonly watch: (project: Project, config?: InlineConfig) => Promise<Rolldown.RolldownWatcher>
  /** Serves a preview until the test ends. */
  readonly preview: (project: Project, config?: InlineConfig) => Promise<Ask>
}

const all = [
  testedVite('Vite 6', async () => asVite(await import('vite6'))),
  testedVite('Vite 7', async () => asVite(await import('vite7'))),
  testedVite('Vite 8', () => import('vite')),
]

function testedVite(name: string, load: () => Promise<Vite>): TestedVite {
  return {
    name,
    load,
    build: async (project, config) => await (await load()).build(configOf(project, config)),
    buildApp: async (project, config) => {
      const builder = await (await load()).createBuilder(configOf(project, config))
      await builder.buildApp()
    },
    watch: async (project, config) => {
      const { build, ...others } = configOf(project, config)
      const watcher = await (await load()).build({ ...others, build: { ...build, watch: {} } })
      if (!('close' in watcher)) throw new Error('Vite does not watch')
      onTestFinished(() => watcher.close())
      return watcher
    },
    preview: async (project, config) => {
      const { preview, ...others } = configOf(project, config)
      const place = { port: 0, host: '127.0.0.1', ...preview }
      const server = await (await load()).preview({ ...others, preview: place })
      onTestFinished(() => server.close())
      const address = server.httpServer.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      return (path, options) => request(port, path, options)
    },
  }
}

/** All major versions of Vite that the plugin supports. `SERVE_DIST_VITES` selects some. */
export const vites = all.filter(isChosen)

function configOf(project: Project, config: InlineConfig = {}): InlineConfig {
  return project.config({ plugins: [serveDist()], ...config })
}

/** Casts another version's module, whose types differ only where the tests do not use them. */
function asVite(module: Record<keyof Vite, unknown>): Vite {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the functions are there, by the parameter's type
  return module as Vite
}
