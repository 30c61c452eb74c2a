import { OperatorError } from '@serve-dist/manifest'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { findApplication, type NodeHandler } from './find-application.ts'

/**
 * Loads the module that answers what the build does not have.
 *
 * @throws OperatorError when it is not there, fails while it is loaded or exports no handler.
 */
export async function loadApplication(file: string): Promise<NodeHandler> {
  const path = resolve(file)
  const found = await stat(path).catch(() => undefined)
  if (found?.isFile() !== true) {
    throw new OperatorError(
      'SD_APPLICATION_UNUSABLE',
      `${file}: no such module; build it first (vite build --ssr <entry>)`,
    )
  }
  const application = findApplication(await importModule(file, path))
  if (application !== undefined) return application
  throw new OperatorError(
    'SD_APPLICATION_UNUSABLE',
    `${file}: exports no handler; export as default, handler, fetch or app a function (req, res), a function from Request to Response, or an object with such a fetch`,
  )
}

async function importModule(file: string, path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const module: Readonly<Record<string, unknown>> = await import(pathToFileURL(path).href)
    return module
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
    throw new OperatorError('SD_APPLICATION_UNUSABLE', `${file}: cannot be loaded: ${reason}`, { cause })
  }
}
