import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Manifest, manifestPath, parseManifest } from '@serve-dist/manifest'
import type { InlineConfig } from 'vite'
import { onTestFinished } from 'vitest'
import { createRecordingLogger, type RecordingLogger } from './recording-logger.ts'

/** A Vite project in a temporary folder that is removed after the test. */
export interface Project {
  readonly root: string
  /** Records the logs of Vite and the plugin. */
  readonly logger: RecordingLogger
  write(path: string, content: string | Uint8Array): Promise<void>
  read(path: string): Promise<string>
  /** Lists all files below a folder, relative to it, sorted. */
  list(folder?: string): Promise<string[]>
  manifest(folder?: string): Promise<Manifest>
  /** Returns the cache class of each file in the manifest. */
  classes(folder?: string): Promise<Record<string, string>>
  /** Returns the number of files of each cache class. */
  classCounts(folder?: string): Promise<Record<string, number>>
  config(config: InlineConfig): InlineConfig
}

export async function createProject(files: Record<string, string | Uint8Array>): Promise<Project> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'serve-dist-vite-')))
  // Retry, because the cache is pruned in the background.
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 5 }))
  const logger = createRecordingLogger()
  const project: Project = {
    root,
    logger,
    async write(path, content) {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), content)
    },
    read: (path) => readFile(join(root, path), 'utf8'),
    async list(folder = 'dist') {
      const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true })
      const names = entries
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
      return names.map((name) => name.slice(join(root, folder).length + 1).replaceAll('\\', '/')).toSorted()
    },
    manifest: async (folder = 'dist') => parseManifest(await project.read(join(folder, manifestPath))),
    async classes(folder = 'dist') {
      const { files: described } = await project.manifest(folder)
      return Object.fromEntries(described.map(({ path, cache }) => [path, cache]))
    },
    async classCounts(folder) {
      const counts: Record<string, number> = {}
      for (const cache of Object.values(await project.classes(folder)))
        counts[cache] = (counts[cache] ?? 0) + 1
      return counts
    },
    config: (config) => ({ root, configFile: false, logLevel: 'silent', customLogger: logger, ...config }),
  }
  for (const [path, content] of Object.entries({ 'package.json': '{}', ...files })) {
    await project.write(path, content)
  }
  return project
}

/** Returns text that compresses well and that no bundler can shorten. */
export function prose(seed: string): string {
  return Array.from(
    { length: 60 },
    (_, index) => `${seed} ${index} occurs in this build to be compressed`,
  ).join('. ')
}

/** A page, a script, a lazy chunk and a style: the smallest application with every kind of file. */
export const application: Record<string, string> = {
  'index.html': '<!doctype html><title>t</title><script type="module" src="/main.js"></script>',
  'main.js': `import './style.css'; console.log(${JSON.stringify(prose('main'))}); import('./lazy.js')`,
  'lazy.js': `export default ${JSON.stringify(prose('lazy'))}`,
  'style.css': `body::after { content: ${JSON.stringify(prose('style'))} }`,
}
