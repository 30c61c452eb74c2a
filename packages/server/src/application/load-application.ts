import { readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { OperatorError } from '@serve-dist/manifest'
import { exportNames, findHandler } from './find-handler.ts'
import { isFunction, isObject, type NodeHandler, type SchemeReader } from './node-handler.ts'
import type { UpgradeHandler } from '../send/upgrade.ts'

type Module = Readonly<Record<string, unknown>>

export interface LoadedApplication {
  readonly handler: NodeHandler
  readonly upgrade?: UpgradeHandler
}

/** The possible exports of an upgrade handler, in order of precedence. */
const upgradeNames = ['upgrade', 'handleUpgrade'] as const

/**
 * Loads the module that answers requests for unknown paths.
 *
 * @throws OperatorError if the module does not exist, fails to load, never finishes a top-level await, starts its own
 * server, or exports no handler.
 */
export async function loadApplication(file: string, readScheme?: SchemeReader): Promise<LoadedApplication> {
  const path = resolve(file)
  const found = await stat(path).catch(() => undefined)
  if (found?.isFile() !== true) {
    throw unusable(`${file}: no such module. Build it first: vite build --ssr <entry>`)
  }
  const ofNitro = await describeNitroServer(path)
  if (ofNitro !== undefined) throw unusable(`${file} ${ofNitro}`)
  const module = await attempt(file, async () => await watchLoading(file, import(pathToFileURL(path).href)))
  const problem = describeOtherServer(module)
  if (problem !== undefined) throw unusable(`${file} ${problem}`)
  const handler = await attempt(file, async () => await findHandler(module, path, readScheme))
  const upgrade = upgradeNames.map((name) => module[name]).find(isFunction)
  if (handler !== undefined) return { handler, ...(upgrade !== undefined && { upgrade }) }
  throw unusable(
    `${file}: the module exports no handler. Export a function from Request to Response as fetch, or a function (req, res) as default or handler. Valid names: ${exportNames.join(', ')}`,
  )
}

function unusable(message: string, cause?: unknown): OperatorError {
  return new OperatorError('SD_APPLICATION_UNUSABLE', message, { cause })
}

async function attempt<Result>(file: string, load: () => Promise<Result>): Promise<Result> {
  try {
    return await load()
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
    throw unusable(`${file}: cannot load this module: ${reason}`, cause)
  }
}

/** Milliseconds until a warning explains why the server does not listen yet. */
const loadingPatience = 5000

/** Warns about a long top-level await, and fails if it can never end. */
async function watchLoading(file: string, loading: Promise<Module>): Promise<Module> {
  const timer = setTimeout(() => {
    const waiting = 'a top-level await in it or in an imported module has not ended'
    process.stderr.write(
      `serve-dist: still loading ${file} after ${loadingPatience / 1000} seconds. The server waits because ${waiting}\n`,
    )
  }, loadingPatience).unref()
  return await new Promise((succeed, fail) => {
    const giveUp = (): void =>
      fail(new Error('its top-level await never ends, because no timer or connection is left'))
    // Otherwise Node exits with code 13 and names only our own module.
    process.once('beforeExit', giveUp)
    void loading.then(succeed, fail).finally(() => {
      clearTimeout(timer)
      process.off('beforeExit', giveUp)
    })
  })
}

/** Describes a Nitro server, whose default preset listens during its import. The parent folder contains its `nitro.json`. */
async function describeNitroServer(path: string): Promise<string | undefined> {
  const text = await readFile(join(dirname(path), '../nitro.json'), 'utf8').catch(() => '')
  const [, preset] = /"preset":\s*"(node[-_](?:server|cluster))"/.exec(text) ?? []
  if (preset === undefined) return undefined
  const wanted = /"nitro":\s*"[0-2]\./.test(text) ? 'node' : 'node-middleware'
  const isNuxt = /"framework":\s*\{\s*"name":\s*"nuxt"/.test(text)
  const cure = isNuxt ? `with: npx nuxt build --preset=${wanted}` : `with NITRO_PRESET=${wanted}`
  return `starts its own server (Nitro's preset ${preset}). Build ${cure}`
}

/** Explains why a framework's module cannot be mounted, and names the setting to change. */
function describeOtherServer(module: Module): string | undefined {
  const { options, server, host, port, Server } = module
  if (isObject(options) && options['mode'] === 'standalone') {
    return "starts its own server (@astrojs/node). Set mode: 'middleware' in the adapter's options."
  }
  if (isObject(server) && host !== undefined && port !== undefined) {
    return 'starts its own server (SvelteKit, adapter-node). Name handler.js of the same folder.'
  }
  if (Object.keys(module).join() === 'default' && isEmpty(module['default'])) {
    return 'exports nothing, and may have started its own server. With Nitro, build with NITRO_PRESET=node (Nitro 3: node-middleware).'
  }
  if (isFunction(Server)) {
    return "is SvelteKit's output without an adapter. Build with @sveltejs/adapter-node, and name build/handler.js."
  }
  return undefined
}

function isEmpty(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0 && !isFunction(value)
}
