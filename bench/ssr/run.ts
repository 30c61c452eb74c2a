// How long a file waits while pages are rendered that block the event loop. What stands behind the name of
// the program goes to the command: `node bench/dist/ssr/run.js --workers 2`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { percentile } from '../serve/report/statistics.ts'

const duration = 10_000
const application = fileURLToPath(new URL('blocking-application.js', import.meta.url))
const server = dirname(createRequire(import.meta.url).resolve('@serve-dist/server/package.json'))

const directory = await mkdtemp(join(tmpdir(), 'serve-dist-bench-'))
await writeFile(join(directory, 'app.js'), 'export const size = 1\n'.repeat(500))
const child = spawn(
  process.execPath,
  [
    join(server, 'bin/serve-dist.js'),
    directory,
    '--port',
    '0',
    '--ssr',
    application,
    ...process.argv.slice(2),
  ],
  { stdio: ['ignore', 'pipe', 'inherit'] },
)
try {
  const url = await readUrl()
  report('no page is rendered', await measure(url, false))
  report('one page after the other is rendered', await measure(url, true))
} finally {
  child.kill('SIGTERM')
  await once(child, 'close')
  await rm(directory, { recursive: true })
}

async function readUrl(): Promise<URL> {
  let said = ''
  for await (const text of child.stdout.setEncoding('utf8')) {
    said += String(text)
    const match = / (http:\/\/\S+)$/m.exec(said)
    if (match?.[1] !== undefined) return new URL(match[1])
  }
  throw new Error('the command ended before it listened')
}

/** Milliseconds that files took, asked for one after the other, each on a connection of its own. */
async function measure(url: URL, isRendering: boolean): Promise<number[]> {
  const end = performance.now() + duration
  const times: number[] = []
  const askForPages = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    while (performance.now() < end) await request(new URL('page', url), agent)
    agent.destroy()
  }
  const askForFiles = async (): Promise<void> => {
    while (performance.now() < end) {
      const start = performance.now()
      await request(new URL('app.js', url), false)
      times.push(performance.now() - start)
    }
  }
  await Promise.all(isRendering ? [askForPages(), askForFiles()] : [askForFiles()])
  return times
}

async function request(url: URL, agent: Agent | false): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    get(url, { agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url.pathname}: ${response.statusCode}`))
      response.resume().once('end', resolve)
    }).once('error', reject)
  })
}

function report(what: string, times: readonly number[]): void {
  const [middle, late] = [percentile(times, 0.5), percentile(times, 0.99)]
  process.stdout.write(
    `${what}: ${times.length} files, p50 ${middle.toFixed(1)} ms, p99 ${late.toFixed(1)} ms, longest ${Math.max(...times).toFixed(1)} ms\n`,
  )
}
