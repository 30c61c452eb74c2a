import { access, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

type Kind = 'dependencies' | 'devDependencies'
type PackageJson = { bin?: string | Record<string, string> } & Partial<Record<Kind, Record<string, string>>>

const installed = fileURLToPath(new URL('../../node_modules', import.meta.url))

/**
 * Runs an npm command that installs or removes packages. It links dependencies of `e2e` instead of downloading packages;
 * the suite `installers` installs serve-dist with npm itself.
 *
 * @returns `false` if the line is another command.
 */
export async function runNpmCommand(line: string, project: string): Promise<boolean> {
  const [, action, flag = '', names = ''] =
    /^npm (install|uninstall|ci)( --\S+)?(?: ([^-].*))?$/.exec(line) ?? []
  if (action === undefined) return false
  const file = path.join(project, 'package.json')
  const manifest: PackageJson = JSON.parse(await readFile(file, 'utf8'))
  if (action === 'ci') {
    await linkPackages(project, manifest.dependencies)
    if (flag !== ' --omit=dev') await linkPackages(project, manifest.devDependencies)
    return true
  }
  const listed = names.split(' ').map((name) => [name, '*'] as const)
  for (const kind of ['dependencies', 'devDependencies'] as const) {
    manifest[kind] = without(manifest[kind], names.split(' '))
  }
  if (action === 'install') {
    const kind = flag === ' --save-dev' ? 'devDependencies' : 'dependencies'
    manifest[kind] = { ...manifest[kind], ...Object.fromEntries(listed) }
    await linkPackages(project, manifest[kind])
  } else {
    for (const [name] of listed) await rm(path.join(project, 'node_modules', name), { force: true })
  }
  await writeFile(file, JSON.stringify(manifest, null, 2))
  return true
}

function without(packages: Record<string, string> = {}, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(packages).filter(([name]) => !names.includes(name)))
}

async function linkPackages(project: string, packages: Record<string, string> = {}): Promise<void> {
  const programs = path.join(project, 'node_modules/.bin')
  await mkdir(programs, { recursive: true })
  for (const name of Object.keys(packages)) {
    const [source, target] = [path.join(installed, name), path.join(project, 'node_modules', name)]
    if (await exists(target)) continue
    await mkdir(path.dirname(target), { recursive: true })
    await symlink(source, target, 'junction')
    const { bin = {} }: PackageJson = JSON.parse(await readFile(path.join(source, 'package.json'), 'utf8'))
    const entries = typeof bin === 'string' ? { [path.basename(name)]: bin } : bin
    for (const [program, file] of Object.entries(entries)) {
      const text = `#!/bin/sh\nexec node '${path.join(target, file)}' "$@"\n`
      await writeFile(path.join(programs, program), text, { mode: 0o755 })
    }
  }
}

async function exists(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  )
}
