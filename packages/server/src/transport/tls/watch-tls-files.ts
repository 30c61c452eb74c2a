import { OperatorError } from '@serve-dist/manifest'
import { type FSWatcher, watch } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readTlsCredentials, type TlsCredentials, type TlsFiles } from './tls-credentials.ts'

/** Hears of new files. */
export interface TlsFilesListener {
  readonly onCredentials: (credentials: TlsCredentials) => void
  /** Called once for the same contents. */
  readonly onProblem: (problem: OperatorError) => void
}

/** Watches the files of a certificate. */
export interface TlsFilesWatcher {
  /** Reads them again, changed or not. */
  readonly reload: () => Promise<void>
  readonly stop: () => void
}

/** Milliseconds between looks: network and overlay mounts report no changes. */
const interval = 30_000
/** Milliseconds that may pass between the change of one file and of the other. */
const settling = 500

/**
 * Watches a certificate and its key, and reports another pair, or why it cannot be used.
 */
export function watchTlsFiles(
  files: TlsFiles,
  current: TlsCredentials,
  { onCredentials, onProblem }: TlsFilesListener,
): TlsFilesWatcher {
  let seen: string | undefined = contentOf(current)
  let looking = Promise.resolve()
  let soon: NodeJS.Timeout | undefined

  const look = async (): Promise<void> => {
    const content = await readContent(files)
    if (content === seen) return
    const found = await readTlsCredentials(files).catch(toTlsError)
    if (!(found instanceof OperatorError)) {
      seen = contentOf(found)
      onCredentials(found)
      return
    }
    // It may be half of a new pair: wait for the other half.
    await delay(settling, undefined, { ref: false })
    if ((await readContent(files)) !== content) return look()
    seen = content
    onProblem(found)
  }
  const lookNext = (): Promise<void> => {
    looking = looking.then(look)
    return looking
  }
  const lookSoon = (): void => {
    clearTimeout(soon)
    soon = setTimeout(() => void lookNext(), 50).unref()
  }
  const timer = setInterval(() => void lookNext(), interval).unref()
  // Folders, not files: programs replace files by renaming, and Kubernetes moves a link beside them.
  const folders = new Set([dirname(files.cert), dirname(files.key)])
  const watchers = [...folders].map((folder) => tryToWatch(folder, lookSoon))

  return {
    reload() {
      seen = undefined
      return lookNext()
    },
    stop() {
      clearInterval(timer)
      clearTimeout(soon)
      for (const watcher of watchers) watcher?.close()
    },
  }
}

/** Where the system cannot watch, looking from time to time remains. */
function tryToWatch(folder: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, onChange)
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return undefined
  }
}

/** The content of both files; one that cannot be read is empty. */
async function readContent({ cert, key }: TlsFiles): Promise<string> {
  const [certBytes, keyBytes] = await Promise.all(
    [cert, key].map((file) => readFile(file).catch(() => Buffer.alloc(0))),
  )
  return contentOf({ cert: certBytes ?? Buffer.alloc(0), key: keyBytes ?? Buffer.alloc(0) })
}

function contentOf({ cert, key }: Pick<TlsCredentials, 'cert' | 'key'>): string {
  return `${cert.toString('latin1')}\0${key.toString('latin1')}`
}

function toTlsError(error: unknown): OperatorError {
  return error instanceof OperatorError
    ? error
    : new OperatorError('SD_TLS_UNUSABLE', String(error), { cause: error })
}
