import { type Dirent, existsSync, readdirSync } from 'node:fs'
import { basename, join, posix } from 'node:path'
import { documentUrl } from '@serve-dist/foundation/text/document-url'
import { pluralize } from '@serve-dist/foundation/text/pluralize'
import {
  compressCommand,
  compressionMissing,
  contentCodings,
  isCompressible,
  manifestPath,
  mediaTypeOf,
  OperatorError,
  recordPath,
  shellWord,
} from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import { isServerOutput } from './compare-folder.ts'
import { serverModuleName, frameworkOutputs, serverModuleIn } from './framework-output.ts'

/** A folder without a manifest. */
interface Folder {
  /** As the operator named it. */
  readonly directory: string
  readonly root: string
  /** What is asked for: to serve it, or to compress what will be served. */
  readonly task?: 'compress'
}

/** What names tell of such a folder. */
interface FolderNames {
  /** Files that are not hidden, and not below a folder with a manifest of its own. */
  readonly files: ReadonlySet<string>
  /** Folders further below that have a manifest. */
  readonly builds: readonly string[]
  /** Folders further below that a server's build has written, by its record. */
  readonly servers: readonly string[]
  /** Whether packages are installed in it, as in no build. */
  readonly hasPackages: boolean
}

/**
 * Refuses a folder without a manifest that is most likely not what its operator wanted to serve. It looks at names only,
 * and needs no package that may be missing.
 *
 * @param isWanted - whether the operator says that this very folder is meant; then only an empty one is refused.
 * @throws OperatorError with the command that was meant.
 */
export function refuseUnlikelyFolder(folder: Folder, isWanted: boolean): void {
  const names = readNames(folder.root)
  refuseEmpty(folder, names)
  if (isWanted) return
  refuseServerCode(folder, names)
  refuseUncompressed(folder)
  refuseLostManifest(folder, names)
  refuseFolderAbove(folder, names)
  refuseProject(folder, names)
}

/**
 * Refuses to compress a folder that a server would refuse to serve, for what a manifest lists is served without a word.
 *
 * @param isDescribed - whether a manifest or a record says what belongs to it; then only a framework's output is refused,
 * of which one folder inside is the build.
 * @throws OperatorError with the command that was meant.
 */
export function refuseToCompress(folder: Omit<Folder, 'task'>, isDescribed: boolean): void {
  const names = readNames(folder.root)
  refuseEmpty(folder, names)
  if (isDescribed && codeOfFramework(folder.root, names) === undefined) return
  refuseServerCode({ ...folder, task: 'compress' }, names)
  refuseProject({ ...folder, task: 'compress' }, names)
}

function refuseEmpty({ root }: Folder, { files, builds }: FolderNames): void {
  if (files.size > 0 || builds.length > 0) return
  const problem = `${root}: the folder holds no file that could be served; build first, or name the folder that the build wrote`
  throw new OperatorError('SD_BUILD_NOT_FOUND', problem)
}

function manifestPathIn(folder: string): string {
  return join(folder, manifestPath)
}

const certainEntry = /^(?:entry|entry[-.]server)\.[cm]?js$/

/** Whoever serves it publishes how the server works, and often what it knows. */
function refuseServerCode(folder: Folder, names: FolderNames): void {
  const { files, builds, servers } = names
  const isSite = files.has('index.html')
  const entry = [...files].find((path) => {
    const [above, name = ''] = path.split('/')
    return (
      above === 'server' &&
      path.split('/').length === 2 &&
      (isSite ? certainEntry : serverModuleName).test(name)
    )
  })
  const hidden = '.output/server/index.mjs'
  const module = entry ?? (existsSync(join(folder.root, hidden)) ? hidden : undefined)
  const recorded = isServerOutput(folder.root) ? 'by the record of its build' : servers[0]
  const found = module ?? recorded ?? codeOfFramework(folder.root, names)
  if (found === undefined) return
  const below = [...builds, '.output/public', 'client', 'public', ...clientsBeside(folder.root)].find(
    (path) => existsSync(join(folder.root, path)),
  )
  refuseFolder(
    folder,
    `a server's code lies here (${found}), which everybody could read`,
    below === undefined
      ? ['  Name the folder of the build for browsers.']
      : commandsFor(folder, below, module),
  )
}

/** A file of a server, where a framework wrote its build: a folder `server` beside `client` and no page, or that folder. */
function codeOfFramework(root: string, { files }: FolderNames): string | undefined {
  const paths = [...files]
  const hasBoth = ['client', 'server'].every((name) => existsSync(join(root, name)))
  // adapter-node of SvelteKit.
  if (hasBoth && files.has('handler.js')) return 'handler.js'
  const isSite = ['index.html', 'server/index.html'].some((path) => files.has(path))
  if (hasBoth && !isSite) return paths.find((path) => /^server\/.*\.[cm]?js$/.test(path))
  if (clientsBeside(root).length === 0 || paths.some((path) => path.endsWith('.html'))) return undefined
  return paths.find((path) => /\.[cm]?js$/.test(path))
}

/** The build for browsers beside a server's folder, relative to that. */
function clientsBeside(root: string): readonly string[] {
  if (basename(root) !== 'server') return []
  return ['client', 'public']
    .filter((client) => serverModuleIn(join(root, '..'), client) !== undefined)
    .map((client) => `../${client}`)
    .filter((path) => existsSync(join(root, path)))
}

function commandsFor(folder: Folder, below: string, entry: string | undefined): readonly string[] {
  const beside = serverModuleIn(join(folder.root, below, '..'), posix.basename(below))
  const module = beside === undefined ? entry : posix.join(below, '..', beside)
  const command = commandFor(folder, below)
  return [
    `  The folder for browsers: ${command}`,
    ...(module === undefined || folder.task === 'compress'
      ? []
      : [`  with pages that the server renders: ${command} --ssr ${pathIn(folder, module)}`]),
  ]
}

/** The build recorded only, and its last step was left out, or failed. What it leaves out stands in that record. */
function refuseUncompressed({ directory, root }: Folder): void {
  if (existsSync(join(root, recordPath))) throw compressionMissing(directory)
}

/** Files beside which variants in two codings lie, zstd among them: hardly anybody else writes these. */
function refuseLostManifest({ directory, root }: Folder, { files }: FolderNames): void {
  const compressed = [...files].filter((path) => {
    const codings = contentCodings.filter(({ extension }) => files.has(path + extension))
    return (
      codings.length > 1 && codings.some(({ name }) => name === 'zstd') && isCompressible(mediaTypeOf(path))
    )
  })
  const [first] = compressed
  if (first === undefined) return
  const found = pluralize(compressed.length, 'file has', 'files have')
  throw new OperatorError('SD_MANIFEST_LOST', [
    `${root}: this looks like a build that has lost its manifest (${manifestPath}): ${found} variants here, such as ${first}.zst`,
    '  Without it the server knows no rules (security headers, redirects), no files that the build leaves out,',
    '  and nothing that is immutable. Most likely a copy left hidden files out:',
    '    cp -r dist/* target              instead: cp -r dist/. target',
    '    zip -r site.zip dist/*           instead: zip -r site.zip dist',
    '    actions/upload-artifact          with include-hidden-files: true',
    `    a framework that copies folders  with its integration, see ${documentUrl('frameworks')}`,
    `  ${compressCommand(directory)} writes a new manifest, of all files that lie there.`,
    '  --force serves the folder as it is, all of it.',
  ])
}

/** `dist`, where the build is `dist/client`. */
function refuseFolderAbove(folder: Folder, { builds }: FolderNames): void {
  if (builds.length === 0) return
  const found = pluralize(builds.length, 'folder below has', 'folders below have')
  refuseFolder(
    folder,
    `no manifest here, but ${found} one`,
    builds.slice(0, 3).map((path) => `  Run: ${commandFor(folder, path)}`),
  )
}

/** A project, or a server build that brings its packages. */
function refuseProject(folder: Folder, { files, hasPackages }: FolderNames): void {
  if (!files.has('package.json')) return
  const sources = [...files].some((path) => /^vite\.config\.[cm]?[jt]s$/.test(path))
  if (files.has('index.html') && !hasPackages && !sources) return
  const output = frameworkOutputs.find((path) => existsSync(join(folder.root, path)))
  refuseFolder(folder, "a project or a server's build, not one for browsers (package.json lies here)", [
    `  Name the folder that the build wrote${output === undefined ? '.' : `, such as: ${commandFor(folder, output)}`}`,
  ])
}

function refuseFolder({ directory, root, task }: Folder, problem: string, cures: readonly string[]): never {
  const flag = task === 'compress' ? "--include '**' compresses" : '--force serves'
  const anyhow = `  ${flag} ${shellWord(directory)} itself, all of it.`
  throw new OperatorError('SD_FOLDER_WRONG', [`${root}: ${problem}`, ...cures, anyhow])
}

function commandFor(folder: Folder, path: string): string {
  return `npx serve-dist ${folder.task === 'compress' ? 'compress ' : ''}${pathIn(folder, path)}`
}

function pathIn({ directory }: Folder, path: string): string {
  return shellWord(posix.join(directory.replaceAll('\\', '/'), path))
}

/** Output folders of frameworks that are hidden. */
const hiddenOutputs = new Set(['.output', '.vitepress'])

function readNames(root: string): FolderNames {
  const files = new Set<string>()
  const builds: string[] = []
  const servers: string[] = []
  let hasPackages = false
  const walk = (folder: string, isHidden: boolean): void => {
    for (const child of entriesIn(join(root, folder), folder === '')) {
      const path = folder === '' ? child.name : `${folder}/${child.name}`
      const isDotted = child.name.startsWith('.') && child.name !== '.well-known'
      if (!child.isDirectory()) {
        if (!isHidden && !isDotted) files.add(path)
      } else if (child.name === 'node_modules') hasPackages ||= folder === ''
      else if (existsSync(manifestPathIn(join(root, path)))) builds.push(path)
      else if (!isDotted) {
        if (isServerOutput(join(root, path))) servers.push(path)
        walk(path, isHidden)
      } else if (hiddenOutputs.has(child.name)) walk(path, true)
    }
  }
  walk('', false)
  return { files, builds: builds.toSorted(), servers, hasPackages }
}

function entriesIn(folder: string, isRoot: boolean): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (cause) {
    // Whoever reads the files reports a folder below.
    if (!isRoot) return []
    const problem = `${folder}: cannot be listed (${reasonOf(cause)}); give the right to: chmod a+rX`
    throw new OperatorError('SD_FOLDER_UNREADABLE', `${problem} ${shellWord(folder)}`, { cause })
  }
}
