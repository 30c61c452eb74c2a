import { groupDigits } from '@serve-dist/foundation/text/group-digits'
import { type Dirent, existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, posix, relative } from 'node:path'
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
  parseManifest,
  recordPath,
  shellWord,
} from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import { isServerOutput } from './compare-folder.ts'
import { serverModuleName, frameworkOutputs, serverModuleIn } from './framework-output.ts'

interface Folder {
  /** The folder as the operator named it. */
  readonly directory: string
  readonly root: string
  /** The command: serving by default, or compressing. */
  readonly task?: 'compress'
}

interface FolderNames {
  /** Files that are neither hidden nor in a subfolder with its own manifest. */
  readonly files: ReadonlySet<string>
  readonly builds: readonly string[]
  /** Subfolders that are the output of a server build, by its record. */
  readonly servers: readonly string[]
  /** Whether it contains installed packages, which a build never does. */
  readonly hasPackages: boolean
}

/**
 * Refuses a folder without a manifest that the operator probably did not intend to serve. It looks only at names, and
 * needs no optional package.
 *
 * @param isWanted - whether the operator insists on this folder. Then it refuses only an empty folder.
 * @throws OperatorError with the command that the operator probably intended.
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
  refuseSources(folder, names)
}

/**
 * Refuses to compress a folder that a server would refuse to serve, because a server accepts any folder with a manifest.
 *
 * @param isDescribed - whether the folder has a manifest or a record. Then it refuses only the output of a framework, in
 * which one subfolder is the build.
 * @throws OperatorError with the command that the operator probably intended.
 */
export function refuseToCompress(folder: Omit<Folder, 'task'>, isDescribed: boolean): void {
  const names = readNames(folder.root)
  refuseEmpty(folder, names)
  if (isDescribed && codeOfFramework(folder.root, names) === undefined) return
  refuseServerCode({ ...folder, task: 'compress' }, names)
  refuseProject({ ...folder, task: 'compress' }, names)
  refuseSources({ ...folder, task: 'compress' }, names)
}

function refuseEmpty({ root }: Folder, { files, builds }: FolderNames): void {
  if (files.size > 0 || builds.length > 0) return
  const problem = `${root}: the folder has no files to serve. Build first, or name the folder of the build.`
  throw new OperatorError('SD_BUILD_NOT_FOUND', problem)
}

function manifestPathIn(folder: string): string {
  return join(folder, manifestPath)
}

const certainEntry = /^(?:entry|entry[-.]server)\.[cm]?js$/

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
    `the folder contains server code (${found}), which all visitors could read.`,
    below === undefined
      ? ['  Name the folder of the build for browsers.']
      : commandsFor(folder, below, module),
  )
}

/** Returns a server file in the output of a framework: in a folder with `client` and `server`, or in this `server`. */
function codeOfFramework(root: string, { files }: FolderNames): string | undefined {
  const paths = [...files]
  const hasBoth = ['client', 'server'].every((name) => existsSync(join(root, name)))
  // The output of SvelteKit's adapter-node.
  if (hasBoth && files.has('handler.js')) return 'handler.js'
  const isSite = ['index.html', 'server/index.html'].some((path) => files.has(path))
  if (hasBoth && !isSite) return paths.find((path) => /^server\/.*\.[cm]?js$/.test(path))
  if (clientsBeside(root).length === 0 || paths.some((path) => path.endsWith('.html'))) return undefined
  return paths.find((path) => /\.[cm]?js$/.test(path))
}

/** Returns the builds for browsers next to a server's folder, as relative paths. */
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
    `  Name the folder for browsers: ${command}`,
    ...(module === undefined || folder.task === 'compress'
      ? []
      : [`  with pages that the server renders: ${command} --ssr ${pathIn(folder, module)}`]),
  ]
}

/** Refuses a folder whose compression step was omitted or failed. The record knows which files to exclude. */
function refuseUncompressed({ directory, root }: Folder): void {
  if (existsSync(join(root, recordPath))) throw compressionMissing(directory)
}

/** Refuses a folder that contains variants in zstd and another coding, because only serve-dist writes both. */
function refuseLostManifest(folder: Folder, { files }: FolderNames): void {
  const compressed = [...files].filter((path) => {
    const codings = contentCodings.filter(({ extension }) => files.has(path + extension))
    return (
      codings.length > 1 && codings.some(({ name }) => name === 'zstd') && isCompressible(mediaTypeOf(path))
    )
  })
  const [first] = compressed
  if (first === undefined) return
  const above = buildAbove(folder.root, first)
  if (above !== undefined)
    refuseFolder(folder, 'the folder is a part of a build.', [`  Run: npx serve-dist ${shellWord(above)}`])
  const { directory, root } = folder
  const found = pluralize(compressed.length, 'file has', 'files have')
  throw new OperatorError('SD_MANIFEST_LOST', [
    `${root}: the build has probably lost its manifest (${manifestPath}): ${found} variants here, such as ${first}.zst.`,
    "  Without it, the server does not know the plugin's rules, the excluded files and the hashed names.",
    '  Probably a copy omitted hidden files. Copy the build again with them:',
    '    cp -r dist/* target              instead: cp -r dist/. target',
    '    zip -r site.zip dist/*           instead: zip -r site.zip dist',
    '    actions/upload-artifact          with include-hidden-files: true',
    `    a framework that copies folders  with its integration, see ${documentUrl('frameworks')}`,
    `  To write a new manifest of all files in the folder, run: ${compressCommand(directory)}`,
    '  To serve the whole folder without a manifest, pass --force.',
  ])
}

/** Returns the nearest folder above whose manifest lists a file of the folder. */
function buildAbove(root: string, file: string): string | undefined {
  for (
    let [below, above] = [root, dirname(root)];
    above !== below;
    [below, above] = [above, dirname(above)]
  ) {
    const path = relative(above, join(root, file)).replaceAll('\\', '/')
    if (listsFile(manifestPathIn(above), path)) return above
  }
  return undefined
}

function listsFile(manifest: string, path: string): boolean {
  try {
    return parseManifest(readFileSync(manifest, 'utf8')).files.some((file) => file.path === path)
  } catch {
    // The folder has no readable manifest.
    return false
  }
}

/** Refuses `dist` if the build is `dist/client`. */
function refuseFolderAbove(folder: Folder, { builds }: FolderNames): void {
  if (builds.length === 0) return
  const found = pluralize(builds.length, 'folder below has', 'folders below have')
  const usual = frameworkOutputs.filter((path) => builds.includes(path))
  const likely = [...new Set([...usual, ...builds])]
  refuseFolder(folder, `the folder has no manifest, but ${found} one.`, [
    ...likely.slice(0, 3).map((path) => `  Run: ${commandFor(folder, path)}`),
    ...(likely.length > 3 ? [`  and ${groupDigits(likely.length - 3)} more`] : []),
  ])
}

/** Refuses a project, or a server build with its packages. */
function refuseProject(folder: Folder, { files, hasPackages }: FolderNames): void {
  if (!files.has('package.json')) return
  const sources = [...files].some((path) => /^vite\.config\.[cm]?[jt]s$/.test(path))
  if (files.has('index.html') && !hasPackages && !sources) return
  const output = frameworkOutputs.find((path) => existsSync(join(folder.root, path)))
  refuseFolder(
    folder,
    'the folder is a project or a server build, not a build for browsers (it contains package.json).',
    [
      `  Name the folder of the build${output === undefined ? '.' : `, such as: ${commandFor(folder, output)}`}`,
    ],
  )
}

/** Refuses the sources of an application, which all visitors could read. */
function refuseSources(folder: Folder, { files }: FolderNames): void {
  const source = [...files].find((path) => /\.(?:[jt]sx|vue|svelte|astro)$/.test(path))
  if (source === undefined || [...files].some((path) => path.endsWith('.html'))) return
  refuseFolder(folder, `the folder has sources (${source}) and no page, so it is not a build for browsers.`, [
    '  Build first, and name the folder of the build.',
  ])
}

function refuseFolder({ directory, root, task }: Folder, problem: string, cures: readonly string[]): never {
  const [verb, flag] = task === 'compress' ? ['compress', "--include '**'"] : ['serve', '--force']
  const anyhow = `  To ${verb} the whole folder ${shellWord(directory)} anyway, pass ${flag}.`
  throw new OperatorError('SD_FOLDER_WRONG', [`${root}: ${problem}`, ...cures, anyhow])
}

function commandFor(folder: Folder, path: string): string {
  return `npx serve-dist ${folder.task === 'compress' ? 'compress ' : ''}${pathIn(folder, path)}`
}

function pathIn({ directory }: Folder, path: string): string {
  return shellWord(posix.join(directory.replaceAll('\\', '/'), path))
}

/** The hidden output folders of frameworks. */
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
    // The code that reads the files reports an unreadable subfolder.
    if (!isRoot) return []
    const problem = `${folder}: cannot list this folder (${reasonOf(cause)}). Let this user read it: chmod a+rX`
    throw new OperatorError('SD_FOLDER_UNREADABLE', `${problem} ${shellWord(folder)}`, { cause })
  }
}
