// `pnpm check:documents`: checks that the code in the documents compiles, and that its flags and scripts exist.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { blocksOf } from './document-blocks.mjs'
import { pnpmCommand } from './pnpm-command.mjs'
import { runCommand } from './run-command.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
// A folder from which `express` and `fastify` can be imported.
const folder = join(root, 'packages/server/node_modules/.cache/documents')

/** @type {string[]} */
const problems = []
const documents = await readDocuments()
const blocks = documents.flatMap(blocksOf)
await checkTypes(blocks.filter(({ language }) => language === 'ts' || language === 'js'))
for (const { place, language, code } of blocks) {
  if (language === 'json') checkJson(place, code)
  if (language === 'sh') await checkShell(place, code)
}
await checkNames()
for (const problem of problems) console.log(`✗ ${problem}`)
if (problems.length === 0) console.log(`✓ ${documents.length} documents, ${blocks.length} blocks of code`)
else process.exitCode = 1

/** @typedef {{ path: string, text: string }} Document */
/** @import { Block } from './document-blocks.mjs' */

/** @returns {Promise<Document[]>} */
async function readDocuments() {
  // Decisions and changesets describe the code of their time.
  const spared = [':!.changeset', ':!docs/decisions', ':!*CHANGELOG.md']
  const paths = await trackedFiles('*.md', ...spared)
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8') })))
}

/** @param {readonly Block[]} typed */
async function checkTypes(typed) {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const options = { noEmit: true, composite: false, paths: await sourcesOfPackages() }
  const configuration = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: options,
    include: ['*.ts', join(root, 'docs/code-blocks.d.ts')],
  }
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(configuration))
  for (const { place, code } of typed) {
    await writeFile(join(folder, `${place.replaceAll(/\W+/g, '-')}.ts`), `${code}\nexport {}\n`)
  }
  const command = pnpmCommand('exec', 'tsc', '-p', folder)
  const { exitCode, output } = await runCommand(command, { cwd: root, isQuiet: true })
  if (exitCode !== 0) problems.push(`a block (its file is named after its place):\n${output}`)
}

/** Maps the names that documents import, from `exports`, to source files. */
async function sourcesOfPackages() {
  const manifests = (await readManifests()).filter(({ path }) => path.startsWith('packages/'))
  return Object.fromEntries(
    manifests.flatMap(({ path, manifest }) =>
      Object.entries(manifest.exports ?? {}).map(([name, { source = '' }]) => [
        join(manifest.name ?? '', name).replaceAll('\\', '/'),
        [join(root, dirname(path), source)],
      ]),
    ),
  )
}

/** @typedef {{ name?: string, scripts?: Record<string, string>, exports?: Record<string, { source?: string }> }} Manifest */

/** @returns {Promise<{ path: string, manifest: Manifest }[]>} */
async function readManifests() {
  const paths = await trackedFiles('*package.json')
  return Promise.all(
    paths.map(async (path) => ({ path, manifest: JSON.parse(await readFile(join(root, path), 'utf8')) })),
  )
}

/** @param {string[]} patterns */
async function trackedFiles(...patterns) {
  const { output } = await runCommand(['git', 'ls-files', ...patterns], { cwd: root, isQuiet: true })
  return output.trim().split('\n')
}

/**
 * @param {string} place
 * @param {string} code
 */
function checkJson(place, code) {
  try {
    JSON.parse(code)
  } catch (error) {
    problems.push(`${place}: ${String(error)}`)
  }
}

/**
 * @param {string} place
 * @param {string} code
 */
async function checkShell(place, code) {
  const { exitCode, output } = await runCommand(['sh', '-n', '-c', code], { isQuiet: true })
  if (exitCode !== 0) problems.push(`${place}: ${output}`)
}

/** Checks flags of the command and scripts of this repository in all code of the documents. */
async function checkNames() {
  // This document is generated from the flags.
  const reference = documents.find(({ path }) => path === 'docs/cli.md')
  const flags = new Set(`--help ${reference?.text}`.match(/--[a-z][\w-]*/g))
  const scripts = (await readManifests()).flatMap(({ manifest }) => Object.keys(manifest.scripts ?? {}))
  const names = new Set([...scripts, 'install', 'add', 'exec', 'dlx', 'changeset'])
  for (const { path, text } of documents) {
    const codes = Array.from(
      text.matchAll(/```sh\n(.*?)```|`([^`\n]+)`/gs),
      ([, block, span]) => block ?? span ?? '',
    )
    for (const line of codes.flatMap((code) => code.split(/\n|#|&&|\|/))) {
      const [, args = ''] = /^\s*(?:npx )?(?:@serve-dist\/server|\S*\bserve-dist)(?=\s)(.*)/.exec(line) ?? []
      for (const [flag] of args.matchAll(/--[a-z][\w-]*/g)) {
        if (!flags.has(flag)) problems.push(`${path}: serve-dist has no ${flag}, in: ${line.trim()}`)
      }
      const name = /\bpnpm(?:@12)? (?:run )?([a-z][\w:-]*)/.exec(line)?.[1]
      if (name !== undefined && !names.has(name)) problems.push(`${path}: there is no pnpm ${name}`)
    }
  }
}
