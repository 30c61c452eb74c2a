import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import serveDist from '@serve-dist/vite'
import { build, type BuildOptions, type Plugin } from 'vite'

const project = fileURLToPath(new URL('../fixtures/deploys', import.meta.url))
const fonts = path.join(
  path.dirname(
    createRequire(new URL('../../examples/spa/package.json', import.meta.url)).resolve(
      '@fontsource-variable/literata/package.json',
    ),
  ),
  'files',
)

/** Builds a version of fixtures/deploys. No two versions share a chunk, style, font or worker. */
export async function buildVersion(
  version: number,
  outDir: string,
  base = '/',
  options: BuildOptions = {},
): Promise<void> {
  await build({
    root: project,
    configFile: false,
    logLevel: 'warn',
    base,
    plugins: [nameVersion(version), serveDist()],
    worker: { format: 'es', plugins: () => [nameVersion(version)] },
    build: { outDir, emptyOutDir: true, assetsInlineLimit: 0, ...options },
  })
}

/** Adds the version to each file, and a font for each version. */
function nameVersion(version: number): Plugin {
  const font = path.join(fonts, readdirSync(fonts).toSorted()[version] ?? '')
  const inVersion = (text: string) =>
    text
      .replaceAll('__VERSION__', String(version))
      .replaceAll('__FONT__', path.relative(project, font).replaceAll('\\', '/'))
  return {
    name: 'version',
    enforce: 'pre',
    transform: (code, id) => (id.startsWith(project) ? { code: inVersion(code), map: null } : null),
    transformIndexHtml: inVersion,
  }
}
