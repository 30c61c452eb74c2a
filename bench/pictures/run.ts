// Makes the pictures of README.md and of the documentation site from real programs: a terminal after `vite build`, the
// treemap of a report in Chromium, and a chart of the saved measurements.
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Command } from 'commander'
import { chromium } from 'playwright'
import { benchDirectory, ownCommand } from '../serve/bench-directory.ts'
import { print } from '../serve/progress.ts'
import { drawChart } from '../serve/report/draw-chart.ts'
import { readSaved, type Report } from '../serve/report/report.ts'
import { runProcess } from '../serve/run-process.ts'
import { drawTerminal } from './draw-terminal.ts'

const { chromium: executablePath } = new Command('pnpm pictures')
  .option('--chromium <file>', 'a Chromium', '/usr/bin/chromium')
  .parse()
  .opts<{ chromium: string }>()
const root = join(benchDirectory, '..')
const pictures = join(root, 'docs/public/pictures')
const largestPicture = 120_000

await mkdir(pictures, { recursive: true })
await writePicture('terminal.svg', await drawTerminal(await buildInTerminal('multi-page'), 'vite build'))
await drawTreemap('spa')
await writePicture('peers.svg', await drawPeers('bundles50k'))

/** Builds an example without its cache and returns the bytes that a terminal receives. */
async function buildInTerminal(example: string): Promise<string> {
  const folder = join(root, 'examples', example)
  await rm(join(folder, 'node_modules/.cache/serve-dist'), { recursive: true, force: true })
  const commands = "stty columns 90 rows 40; echo '$ npx vite build'; npx vite build"
  const environment = { ...process.env, CI: undefined, NO_COLOR: undefined, TERM: 'xterm-256color' }
  const options = { cwd: folder, env: environment }
  return await runProcess('script', ['--quiet', '--return', '--command', commands, '/dev/null'], options)
}

/** Writes the treemap of the report of an example, in light and dark mode. */
async function drawTreemap(example: string): Promise<void> {
  const folder = join(root, 'examples', example)
  const temporary = await mkdtemp(join(tmpdir(), 'pictures-'))
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  try {
    const page = join(temporary, 'report.html')
    await runProcess('npx', ['vite', 'build'], { cwd: folder })
    const report = ['report', 'dist', '--format', 'html', '--title', `examples/${example}`, '--output', page]
    await runProcess(process.execPath, [ownCommand, ...report], { cwd: folder })
    for (const colorScheme of ['light', 'dark'] as const) {
      const tab = await browser.newPage({ colorScheme, viewport: { width: 1200, height: 824 } })
      await tab.goto(pathToFileURL(page).href)
      const name = colorScheme === 'light' ? 'treemap.png' : 'treemap-dark.png'
      await writePicture(name, await tab.screenshot())
    }
  } finally {
    await browser.close()
    await rm(temporary, { recursive: true })
  }
}

/** Draws a workload of the measurements in `docs/benchmarks/peers.json`. */
async function drawPeers(workload: string): Promise<string> {
  const report = await readSaved<Report>('peers', join(root, 'docs/benchmarks/peers.json'))
  return drawChart(
    report,
    report.rows.filter((row) => row.workload === workload),
  )
}

async function writePicture(name: string, contents: string | Uint8Array): Promise<void> {
  const file = join(pictures, name)
  await writeFile(file, contents)
  const { size } = await stat(file)
  if (size > largestPicture) throw new Error(`${name} has ${size} bytes; ${largestPicture} are allowed`)
  print(`${name}: ${size} bytes`)
}
