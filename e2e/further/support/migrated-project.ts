import { cp, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished, vi } from 'vitest'
import { freePort } from '../../../packages/server/test/support/free-port.ts'
import { runProgram, startProgram } from '../../../scripts/start-program.mjs'
import { sendRequest } from '../../src/send-request.ts'
import { temporaryFolder } from '../../src/temporary-folder.ts'
import { runNpmCommand } from './install-packages.ts'
import type { Step } from './migration-page.ts'
import { type Answers, recordAnswers } from './record-answers.ts'

interface StartedServer {
  readonly url: URL
  stop(): Promise<void>
}

/** A project outside of this repository. It can import only the packages that it has installed. */
export interface MigratedProject {
  readonly folder: string
  /**
   * Writes the files and runs the commands of a page. Returns the answers of the server that the last command starts, and
   * stops the server.
   *
   * @throws Error if no command starts a server.
   */
  recordAnswers(steps: readonly Step[]): Promise<Answers>
  /** Writes the files and runs the commands of a page, except commands that start a server. */
  follow(steps: readonly Step[]): Promise<void>
}

/** Commands that start a server on port 3000. */
const serverCommand = /^(npx serve(-dist)?( |$)|node (server|sirv)\.mjs$)/

const fixture = fileURLToPath(new URL('../../fixtures/migrate', import.meta.url))
/** Without the variables of the test runner and of the npm that started it: `npx` would run in that npm's folder. */
const environment = {
  ...Object.fromEntries(
    Object.keys(process.env)
      .filter((name) => /^(npm_|pnpm_|VITEST|NODE_ENV$|INIT_CWD$|PORT$|HOST$)/.test(name))
      .map((name) => [name, undefined]),
  ),
  NO_COLOR: '1',
  CI: '1',
}

/** Makes a project with Vite of the files in `e2e/fixtures/migrate`. The end of the test removes it. */
export async function createMigratedProject(): Promise<MigratedProject> {
  const folder = path.join(await temporaryFolder(), 'site')
  await cp(fixture, folder, { recursive: true })
  await runNpmCommand('npm install --save-dev vite', folder)
  // Another program may use the page's port.
  const port = await freePort()
  const withPort = (text: string): string => text.replaceAll(/\b3000\b/g, String(port))
  const follow = async (steps: readonly Step[]): Promise<void> => {
    for (const step of steps) {
      if (step.kind === 'commands') await runCommands(step.lines, folder)
      else await writeFile(path.join(folder, step.name), withPort(step.text))
    }
  }
  return {
    folder,
    follow,
    async recordAnswers(steps) {
      const commands = steps.flatMap((step) => (step.kind === 'commands' ? step.lines : []))
      const line = commands.at(-1) ?? ''
      if (!serverCommand.test(line)) throw new Error(`this command starts no server: ${line}`)
      await follow(steps)
      const server = await startServer(withPort(line), {
        folder,
        url: new URL(`http://127.0.0.1:${port}/`),
      })
      const answers = await recordAnswers(path.join(folder, 'dist'), server.url)
      await server.stop()
      return answers
    },
  }
}

/** Runs the commands of a page in a folder, except commands that start a server. */
export async function runCommands(lines: readonly string[], folder: string): Promise<void> {
  for (const line of lines.filter((command) => !serverCommand.test(command))) {
    if (await runNpmCommand(line, folder)) continue
    const { exitCode, output, errors } = await runProgram(['sh', '-c', line], { cwd: folder, environment })
    if (exitCode !== 0) throw new Error(`${line} failed:\n${output}${errors}`)
  }
}

export interface ServerOptions {
  readonly folder: string
  readonly url: URL
  readonly variables?: Readonly<Record<string, string>>
}

/** Starts a server and waits until it answers under the URL. The end of the test stops it. */
export async function startServer(line: string, options: ServerOptions): Promise<StartedServer> {
  const { folder, url, variables = {} } = options
  // `startProgram` waits for a URL on standard output, and not every server prints one.
  const command = ['sh', '-c', `echo ${url.href}\n${line}`]
  const program = await startProgram(command, {
    cwd: folder,
    environment: { ...environment, ...variables },
    isGroup: true,
  })
  const stop = async (): Promise<void> => {
    await program.stop()
  }
  onTestFinished(stop)
  const hasAnswered = (): Promise<boolean> =>
    sendRequest(url).then(
      () => true,
      () => !program.isAlive(),
    )
  await vi.waitUntil(hasAnswered, 60_000)
  if (!program.isAlive()) throw new Error(`${line} ended:\n${JSON.stringify(program.output())}`)
  return { url, stop }
}
