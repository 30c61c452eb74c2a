/// <reference lib="dom" />
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { chromium } from 'playwright'

/** Resource Timing of a file: `contentEncoding`, `encodedBodySize` and `transferSize`. */
interface Arrival {
  readonly coding: string
  readonly body: number
  readonly whole: number
}

/** The files that a visit loaded, by path. */
export interface Visit {
  /** Loaded by the first page. */
  readonly page: ReadonlyMap<string, Arrival>
  /** Loaded by all pages together. */
  readonly all: ReadonlyMap<string, Arrival>
}

/** A browser that keeps its cache from one visit to the next. */
export interface Visitor {
  visit(buildId: string, paths: readonly string[]): Promise<Visit>
  close(): Promise<void>
}

/** Starts a server of a store and a Chromium. */
export async function openVisitor(
  executablePath: string,
  node: string,
  parameters: readonly string[],
): Promise<Visitor> {
  const server = spawn(node, [...parameters, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const origin = await originOf(server)
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  const context = await browser.newContext()
  await context.addInitScript(() => performance.setResourceTimingBufferSize(10_000))
  return {
    visit: async (buildId, paths) => {
      await untilServed(origin, buildId)
      const tab = await context.newPage()
      await tab.goto(origin, { waitUntil: 'networkidle' })
      const page = new Map(await tab.evaluate(arrivals))
      await tab.evaluate(load, paths)
      const all = new Map(await tab.evaluate(arrivals))
      // Chromium stores a dictionary some time after the end of its response, without an event.
      await setTimeout(5000)
      await tab.close()
      return { page, all }
    },
    close: async () => {
      await browser.close()
      const closed = once(server, 'close')
      server.kill()
      await closed
    },
  }
}

async function originOf({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('the server has no standard output')
  const line = String(await once(stdout, 'data'))
  stdout.resume()
  const [origin] = /http:\/\/[^/\s]+/.exec(line) ?? []
  if (origin === undefined) throw new Error(`no address in ${line}`)
  return origin.replace('127.0.0.1', 'localhost')
}

async function untilServed(origin: string, buildId: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${origin}/__serve-dist/build.json`)
    if ((await answer.text()).includes(buildId)) return
    await setTimeout(100)
  }
}

/** Runs in the page: loads files in the same way as the application. */
async function load(paths: readonly string[]): Promise<void> {
  await Promise.all(
    paths.map(
      (path) =>
        new Promise((resolve) => {
          const link = document.createElement('link')
          link.rel = path.endsWith('.js') ? 'modulepreload' : 'preload'
          if (path.endsWith('.css')) link.as = 'style'
          link.addEventListener('load', resolve)
          link.addEventListener('error', resolve)
          link.href = `/${path}`
          document.head.append(link)
        }),
    ),
  )
}

/** Runs in the page: lists the files that did not come from the browser's cache. */
function arrivals(): [string, Arrival][] {
  return performance
    .getEntriesByType('resource')
    .filter((entry) => entry instanceof PerformanceResourceTiming)
    .filter(({ transferSize }) => transferSize > 0)
    .map((entry) => {
      const coding = 'contentEncoding' in entry ? String(entry.contentEncoding) : ''
      const { encodedBodySize: body, transferSize: whole } = entry
      return [decodeURI(new URL(entry.name).pathname.slice(1)), { coding, body, whole }]
    })
}
