import { createRequire } from 'node:module'
import path from 'node:path'
import { findRuntime } from '../../src/find-runtime.ts'
import { npmCommand, npxCommand } from '../../../scripts/npm-command.mjs'
import { pnpmCommand } from '../../../scripts/pnpm-command.mjs'

type Command = readonly [string, ...string[]]

/** A program that installs packages and runs their commands. */
export interface Installer {
  readonly name: string
  /** The programs that its commands use, by name. Empty if this machine lacks one. */
  readonly programs: Readonly<Record<string, Command>>
  /** Translates an npm command of the documents. */
  readonly translate: (line: string) => string
  /** Returns the additional files of a project for these registries. */
  readonly files: (registries: Registries) => Readonly<Record<string, string>>
}

interface Registries {
  /** The registry of packages whose names start with `@serve-dist/`. */
  readonly ours: string
  readonly others: string
}

const npmrc = ({ ours, others }: Registries): string => `registry=${others}\n@serve-dist:registry=${ours}\n`
const yarn = createRequire(import.meta.url).resolve('@yarnpkg/cli-dist/bin/yarn.js')
const bun = findRuntime('bun')

export const installers: readonly Installer[] = [
  {
    name: 'npm',
    programs: { npm: npmCommand(), npx: npxCommand('--yes') },
    translate: (line) => line,
    files: (registries) => ({ '.npmrc': npmrc(registries) }),
  },
  {
    name: 'pnpm, with nothing hoisted',
    programs: { pnpm: pnpmCommand() },
    translate: createTranslator('pnpm add', 'pnpm exec', 'pnpm dlx'),
    files: (registries) => ({ '.npmrc': npmrc(registries), 'pnpm-workspace.yaml': 'hoist: false\n' }),
  },
  {
    name: "Yarn 4's PnP",
    programs: { yarn: [process.execPath, yarn] },
    translate: createTranslator('yarn add', 'yarn', 'yarn dlx'),
    files: ({ ours, others }) => ({
      'yarn.lock': '',
      '.yarnrc.yml': `
npmRegistryServer: ${JSON.stringify(others)}
npmScopes:
  serve-dist:
    npmRegistryServer: ${JSON.stringify(ours)}
unsafeHttpWhitelist: ${JSON.stringify([ours, others].map((url) => new URL(url).hostname))}
enableTelemetry: false
`,
    }),
  },
  {
    name: 'Bun',
    programs: bun === undefined ? {} : { bun: [bun], bunx: [bun, 'x'] },
    translate: createTranslator('bun add', 'bunx', 'bunx'),
    files: (registries) => ({
      '.npmrc': npmrc(registries),
      // `bunx` reads no file of the project.
      '../config/.bunfig.toml': `[install.scopes]\nserve-dist = ${JSON.stringify(registries.ours)}\n`,
    }),
  },
]

/**
 * Returns a translator of npm's commands. `npx` runs an installed command, or fetches a package with a scope.
 */
function createTranslator(add: string, run: string, fetchAndRun: string): Installer['translate'] {
  return (line) =>
    line
      .replace(/^npm install --save-dev/, `${add} --dev`)
      .replace(/^npm install/, add)
      .replace(/^npx (?=@)/, `${fetchAndRun} `)
      .replace(/^npx/, run)
      .replace(/^pnpm add --dev/, 'pnpm add --save-dev')
}

/** Returns variables for new cache folders. A run must not use another run's packed packages. */
export function cachesIn(folder: string): Readonly<Record<string, string>> {
  return {
    npm_config_cache: path.join(folder, 'npm'),
    XDG_CONFIG_HOME: path.join(folder, 'config'),
    XDG_CACHE_HOME: path.join(folder, 'caches'),
    YARN_GLOBAL_FOLDER: path.join(folder, 'yarn'),
    BUN_INSTALL_CACHE_DIR: path.join(folder, 'bun'),
  }
}
