import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'vite'

const project = fileURLToPath(new URL('../../examples/spa', import.meta.url))

/** Changes to a build of examples/spa. */
export interface SpaChanges {
  /** Replacements of text, by file of `src`: the old text and the new one. */
  readonly edits?: Readonly<Record<string, readonly [string, string]>>
  /** Whether the build uses an earlier patch release of the router. */
  readonly hasRouterBefore?: boolean
  /** Whether pages contain Vite's import map of chunks. */
  readonly hasImportMap?: boolean
}

/** Builds examples/spa with its own configuration and these changes. */
export async function buildSpa(
  outDir: string,
  { edits = {}, hasRouterBefore = false, hasImportMap = false }: SpaChanges,
): Promise<void> {
  const plugins = (): Plugin[] => [editFiles(edits), ...(hasRouterBefore ? [routerBefore()] : [])]
  await build({
    root: project,
    logLevel: 'error',
    plugins: plugins(),
    worker: { plugins },
    resolve: { dedupe: ['react', 'react-dom'] },
    build: { outDir, emptyOutDir: true, chunkImportMap: hasImportMap },
  })
}

function editFiles(edits: NonNullable<SpaChanges['edits']>): Plugin {
  return {
    name: 'edit-files',
    enforce: 'pre',
    transform(code, id) {
      const edit = edits[id.slice(project.length + '/src/'.length)]
      if (edit === undefined) return null
      if (!code.includes(edit[0])) throw new Error(`${id} has no ${edit[0]}`)
      return { code: code.replace(...edit), map: null }
    },
  }
}

function routerBefore(): Plugin {
  return {
    name: 'router-before',
    enforce: 'pre',
    resolveId(source, importer) {
      if (importer === undefined || !/^react-router(?=\/|$)/.test(source)) return null
      return this.resolve(
        source.replace('react-router', 'react-router-before'),
        fileURLToPath(import.meta.url),
        {
          skipSelf: true,
        },
      )
    },
  }
}
