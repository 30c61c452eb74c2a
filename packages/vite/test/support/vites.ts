import type * as newest from 'vite'
import type { InlineConfig, Rolldown } from 'vite'
import { onTestFinished } from 'vitest'
import serveDist from '../../src/index.ts'
import type { Project } from './project.ts'
import { type RawAnswer, type RawRequest, request } from './request.ts'

/** What the tests use of Vite's module; the types of the newest stand for all. */
type Vite = Pick<typeof newest, 'build' | 'createBuilder' | 'createServer' | 'preview'>

/** `8` or `6,7`: `verify` builds with the newest alone, `verify:all` with the others. */
const majors = (process.env['SERVE_DIST_VITES'] ?? '6,7,8').split(',')

/** Whether this run is to test `Vite 8`, or whatever the name says. */
export function isChosen({ name }: { readonly name: string }): boolean {
  return majors.includes(name.slice('Vite '.length))
}

/** Sends a request to a server. */
export type Ask = (path: string, options?: RawRequest) => Promise<RawAnswer>

/** A major version of Vite. The configurations have the plugin alone, unless they name others. */
export interface TestedVite {
  readonly name: string
  readonly load: () => Promise<Vite>
  readonly build: (project: Project, config?: InlineConfig) => ReturnType<Vite['build']>
  /** Builds all environments. */
  readonly buildApp: (project: Project, config: InlineConfig) => Promise<void>
  /** Builds again at each change, until the test ends. */
  readonly watch: (project: Project, config?: InlineConfig) => Promise<Rolldown.RolldownWatcher>
  /** Shows the build until the test ends. */
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

/** Every major version of Vite that the plugin works with; `SERVE_DIST_VITES` chooses among them. */
export const vites = all.filter(isChosen)

function configOf(project: Project, config: InlineConfig = {}): InlineConfig {
  return project.config({ plugins: [serveDist()], ...config })
}

/** The versions differ in types that the tests do not touch. */
function asVite(module: Record<keyof Vite, unknown>): Vite {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the functions are there, by the parameter's type
  return module as Vite
}
