import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { toJsonSchema } from '@valibot/to-json-schema'
import { defineConfig } from 'rolldown'

// Writes the programs of the packages; `tsc -b` writes their types. Each contains the helpers of packages/foundation that
// it uses. The packages that a start of the server loads are bundled, so that a start reads 5 files instead of 130
// (docs/decisions/016-start.md). Published packages never contain each other: OperatorError must be one class.

/** The dependencies that the packages contain. Their licences are published with them. */
const bundled = [
  'bcryptjs',
  'commander',
  'entities',
  'fast-string-truncated-width',
  'parse5',
  'picomatch',
  'valibot',
]

export default defineConfig([
  bundle('manifest', ['index']),
  // For bundles of applications. An own file, so that a start of the server does not read it. It deletes no other output.
  { ...bundle('manifest', ['runtime-environment'], [], { sourcemap: false }), plugins: [] },
  { ...bundle('manifest', ['read-build-manifest'], [], { sourcemap: false }), plugins: [] },
  bundle('report', ['index'], [{ name: 'report', test: /report.src/ }], { sourcemap: false }),
  keepModules('precompress', ['index', 'encode/encode-worker']),
  keepModules('store', ['index', 'deltas', 'deltas/delta-worker']),
  keepModules('vite', [
    'index',
    ...['astro', 'nuxt', 'react-router', 'sveltekit', 'vite-ssg', 'vitepress'].map(
      (name) => `integrations/${name}`,
    ),
  ]),
  // The HTML parser. The bundle is a fifth of the size of its packages.
  {
    ...bundle('precompress', ['links/elements-of-page'], [], { sourcemap: false, minify: true }),
    plugins: [licenses()],
  },
  // For server bundles of applications, which then need no package in production.
  {
    input: { 'read-environment': join(folderOf('manifest'), 'src/runtime-environment.ts') },
    tsconfig: false,
    output: { dir: join(folderOf('vite'), 'dist/environment'), comments: { jsdoc: false } },
  },
  bundle(
    'server',
    [
      // A thread.
      'access/compare-password-worker',
      'command/run-command',
      'hosts/fastify',
      'hosts/fetch',
      'hosts/preview/vite',
      'index',
      'judge/compare-folder',
      // Tests start it alone.
      'operations/access-log',
    ],
    [
      // `site` answers requests in every host. Only our own server loads `server`.
      {
        name: 'site',
        test: /server.src.(?:protocol|site|files|judge|rules|load|live|send).(?!refuse-|store-source)[a-z-]+\.ts$/,
      },
      {
        name: 'server',
        test: /server.src.(?:transport.[a-z-]+|serve.[a-z-]+|serve.workers.worker-role|command.(?:omit-undefined|served-store))\.ts$/,
      },
    ],
  ),
])

/**
 * @param {string} name
 * @param {string[]} entries
 * @param {import('rolldown').CodeSplittingGroup[]} [groups]
 * @param {import('rolldown').OutputOptions} [more]
 * @returns {import('rolldown').RolldownOptions}
 */
function bundle(name, entries, groups = [], more = {}) {
  const folder = folderOf(name)
  return {
    input: Object.fromEntries(entries.map((entry) => [entry, join(folder, 'src', `${entry}.ts`)])),
    platform: 'node',
    tsconfig: false,
    external: isExternal,
    plugins: [licenses(), requireHttp(), leftovers(), ...(name === 'server' ? [configSchema()] : [])],
    output: {
      dir: join(folder, 'dist'),
      chunkFileNames: 'chunks/[name].js',
      sourcemap: true,
      // They would be half of the package.
      sourcemapExcludeSources: true,
      comments: { legal: true, annotation: true, jsdoc: false },
      codeSplitting: { groups },
      ...more,
    },
  }
}

/**
 * Keeps each module in a file of its own: threads and `import.meta.url` find their files.
 *
 * @param {string} name
 * @param {string[]} entries
 * @returns {import('rolldown').RolldownOptions}
 */
function keepModules(name, entries) {
  const preserveModulesRoot = join(folderOf(name), 'src')
  const options = bundle(name, entries, [], { sourcemap: false, preserveModules: true, preserveModulesRoot })
  return { ...options, plugins: [bundledParser(), leftovers()] }
}

/**
 * Leaves the parser of pages to its own bundle.
 *
 * @returns {import('rolldown').Plugin}
 */
function bundledParser() {
  const id = join(folderOf('precompress'), 'dist/links/elements-of-page.js')
  return {
    name: 'bundled-parser',
    resolveId: (source) =>
      source.endsWith('elements-of-page.ts') ? { id, external: 'relative' } : undefined,
  }
}

/** @param {string} id */
function isExternal(id) {
  const isBundled = id.startsWith('@serve-dist/foundation/') || bundled.includes(id.replace(/\/.*/, ''))
  return /^[^./]/.test(id) && !isBundled
}

/** @param {string} name */
function folderOf(name) {
  return fileURLToPath(new URL(`packages/${name}/`, import.meta.url))
}

/** @returns {import('rolldown').Plugin} */
function licenses() {
  return {
    name: 'licenses',
    generateBundle(_options, output) {
      const modules = Object.values(output).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
      const texts = bundled.flatMap((id) => {
        const [folder] =
          modules.find((module) => module.includes(`/node_modules/${id}/`))?.split(`/${id}/`) ?? []
        if (folder === undefined) return []
        const name =
          readdirSync(join(folder, id)).find((file) => /^license(?:\.md)?$/i.test(file)) ?? 'LICENSE'
        return [`${id}\n\n${readFileSync(join(folder, id, name), 'utf8').trim()}\n`]
      })
      if (texts.length > 0) this.emitFile({ type: 'asset', fileName: 'LICENSES', source: texts.join('\n') })
    },
  }
}

/**
 * Gets `node:http` as CommonJS does: an `import` of it reads every export, and on Node 24 the one named `WebSocket` loads
 * undici, which takes 20 ms of CPU (docs/decisions/016-start.md).
 *
 * @returns {import('rolldown').Plugin}
 */
function requireHttp() {
  const imported = /^import \{([^}]*)\} from "node:http";$/gm
  return {
    name: 'require-http',
    renderChunk: (code) =>
      code.replace(
        imported,
        (_all, names) => `const {${names.replaceAll(' as ', ': ')}} = process.getBuiltinModule("node:http");`,
      ),
  }
}

/**
 * Writes the JSON schema of serve-dist.config.json for editors, made of the schema that checks the file.
 *
 * @returns {import('rolldown').Plugin}
 */
function configSchema() {
  return {
    name: 'config-schema',
    async generateBundle() {
      // Built before: the configurations of this file are run in turn.
      const { s } = await import('./packages/manifest/dist/index.js')
      const schema = toJsonSchema(s.writtenServingRules, { errorMode: 'ignore', typeMode: 'input' })
      schema.$defs[0].properties.$schema = { type: 'string' }
      const source = JSON.stringify(schema, (_key, value) =>
        value?.properties === undefined ? value : { ...value, additionalProperties: false },
      )
      this.emitFile({ type: 'asset', fileName: 'serve-dist.config.schema.json', source })
    },
  }
}

/**
 * Deletes what an earlier build has left.
 *
 * @returns {import('rolldown').Plugin}
 */
function leftovers() {
  return {
    name: 'leftovers',
    writeBundle({ dir = '' }, output) {
      const files = readdirSync(dir, { recursive: true, encoding: 'utf8' })
      const old = files.filter(
        (file) => /\.js(?:\.map)?$/.test(file) && !(file.replaceAll('\\', '/') in output),
      )
      for (const file of old) rmSync(join(dir, file))
    },
  }
}
