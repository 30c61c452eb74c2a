import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'rolldown'

// Bundles the packages that a start of the server loads, so that it reads 5 files instead of 130
// (docs/decisions/016-start.md). `tsc -b` writes their types. Packages that others import stay outside: an
// OperatorError has to be of one class for all of them.

/** Their licences are published beside them. */
const bundled = ['commander', 'picomatch']

export default defineConfig([
  bundle('manifest', ['index', 'usable-cores']),
  bundle(
    'server',
    [
      'command/run-command',
      'hosts/fastify',
      'hosts/fetch',
      'hosts/preview/vite',
      'index',
      'load/compare-folder',
      // Tests start it alone.
      'operations/access-log',
    ],
    [
      // What answers requests, for every host; and what listens, which only our own server loads.
      { name: 'site', test: /server.src.(?:protocol|site|files|load|send).(?!refuse-)[a-z-]+\.ts$/ },
      {
        name: 'server',
        test: /server.src.(?:transport.[a-z-]+|serve.[a-z-]+|serve.workers.worker-role)\.ts$/,
      },
    ],
  ),
])

/**
 * @param {string} name
 * @param {string[]} entries
 * @param {import('rolldown').CodeSplittingGroup[]} [groups]
 * @returns {import('rolldown').RolldownOptions}
 */
function bundle(name, entries, groups = []) {
  const folder = fileURLToPath(new URL(`packages/${name}/`, import.meta.url))
  return {
    input: Object.fromEntries(entries.map((entry) => [entry, join(folder, 'src', `${entry}.ts`)])),
    platform: 'node',
    tsconfig: false,
    external: (id) => /^[^./]/.test(id) && !bundled.includes(id),
    plugins: [licenses(folder), requireHttp(), leftovers()],
    output: {
      dir: join(folder, 'dist'),
      chunkFileNames: 'chunks/[name].js',
      sourcemap: true,
      // They would be half of the package.
      sourcemapExcludeSources: true,
      comments: { legal: true, annotation: true, jsdoc: false },
      codeSplitting: { groups },
    },
  }
}

/**
 * @param {string} folder
 * @returns {import('rolldown').Plugin}
 */
function licenses(folder) {
  return {
    name: 'licenses',
    generateBundle(_options, output) {
      const modules = Object.values(output).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
      const used = bundled.filter((id) => modules.some((module) => module.includes(`/node_modules/${id}/`)))
      const texts = used.map((id) => {
        const license = readFileSync(join(folder, 'node_modules', id, 'LICENSE'), 'utf8')
        return `${id}\n\n${license.trim()}\n`
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
    renderChunk: (code) => code.replace(imported, 'const {$1} = process.getBuiltinModule("node:http");'),
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
