// `pnpm packaging`: checks the packed packages that users would install.
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { packPackages } from './pack-packages.mjs'
import { pnpmCommand } from './pnpm-command.mjs'
import { runCommand } from './run-command.mjs'

/** @import { PackedPackage } from './pack-packages.mjs' */

const temporary = await mkdtemp(join(tmpdir(), 'serve-dist-packaging-'))
try {
  /** @type {string[]} */
  const problems = []
  const packed = await packPackages(temporary)
  for (const item of packed) {
    const contents = await unpack(item)
    const found = [
      ...(await problemsOfContents(contents)),
      ...(await problemsOfImports(contents)),
      ...(await problemsOfLeftovers(item, contents)),
      ...(await problemsOfPublint(item)),
      ...(await problemsOfTypes(item)),
    ]
    console.log(`${found.length === 0 ? '✓' : '✗'} ${item.name}@${item.version}`)
    problems.push(...found.map((problem) => `${item.name}: ${problem}`))
  }
  for (const problem of problems) console.error(`✗ ${problem}`)
  if (problems.length > 0 || packed.length === 0) process.exitCode = 1
} finally {
  await rm(temporary, { recursive: true, force: true })
}

async function unpack(/** @type {PackedPackage} */ { tarball }) {
  const directory = `${tarball}.contents`
  await mkdir(directory)
  const { exitCode, output } = await runCommand(['tar', '-xzf', tarball, '-C', directory], { isQuiet: true })
  if (exitCode !== 0) throw new Error(`tar could not unpack ${tarball}:\n${output}`)
  return join(directory, 'package')
}

async function problemsOfContents(/** @type {string} */ directory) {
  const manifestText = await readFile(join(directory, 'package.json'), 'utf8')
  const files = (await readdir(directory, { recursive: true })).map((path) => path.replaceAll('\\', '/'))
  const problems = ['LICENSE', 'README.md', 'dist/index.js', 'dist/index.d.ts']
    .filter((path) => !files.includes(path))
    .map((path) => `the tarball has no ${path}`)
  for (const path of files) {
    if (/(?:^|[/.-])tests?[/.-]|fixture|\.tsbuildinfo$|\.node$|^src\//.test(path))
      problems.push(`the tarball contains ${path}`)
  }
  for (const protocol of ['workspace:', 'catalog:', '"source"']) {
    if (manifestText.includes(protocol)) problems.push(`its package.json still contains ${protocol}`)
  }
  return problems
}

/** Finds imports of packages/foundation, which is not published. Each package must bundle the parts that it uses. */
async function problemsOfImports(/** @type {string} */ directory) {
  const files = (await readdir(directory, { recursive: true })).filter((path) => /\.[jt]s$/.test(path))
  const texts = await Promise.all(files.map((path) => readFile(join(directory, path), 'utf8')))
  return files
    .filter((_path, index) => texts[index]?.includes('@serve-dist/foundation'))
    .map((path) => `${path} imports @serve-dist/foundation, which is not published`)
}

/** Finds output of source files that no longer exist: `tsc -b` never deletes it, and it would be published. */
async function problemsOfLeftovers(
  /** @type {PackedPackage} */ { directory },
  /** @type {string} */ contents,
) {
  const sources = await readdir(join(directory, 'src'), { recursive: true })
  const built = await readdir(join(contents, 'dist'), { recursive: true })
  return built
    .filter((path) => path.endsWith('.d.ts') && !sources.includes(path.replace(/d\.ts$/, 'ts')))
    .map((path) => `dist/${path} no longer has a source; delete the folder dist and build again`)
}

async function problemsOfPublint(/** @type {PackedPackage} */ { tarball }) {
  const bytes = await readFile(tarball)
  const { messages, pkg } = await publint({
    strict: true,
    pack: { tarball: new Uint8Array(bytes).buffer },
  })
  return messages.map(
    (message) => `publint: ${formatMessage(message, pkg, { color: false }) ?? message.code}`,
  )
}

async function problemsOfTypes(/** @type {PackedPackage} */ { tarball }) {
  const command = pnpmCommand('exec', 'attw', tarball, '--profile', 'esm-only', '--format', 'ascii')
  const { exitCode, output } = await runCommand(command, { isQuiet: true })
  return exitCode === 0 ? [] : [`attw:\n${output.trimEnd()}`]
}
