import { OperatorError } from '@serve-dist/manifest'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { watchFolders } from '../../files/watch-folders.ts'
import { readTlsCredentials, type TlsCredentials, type TlsFiles } from './tls-credentials.ts'

/** A listener for changed files. */
export interface TlsFilesListener {
  readonly onCredentials: (credentials: TlsCredentials) => void
  /** Called once for the same content. */
  readonly onProblem: (problem: OperatorError) => void
}

/** A watcher of certificate files. */
export interface TlsFilesWatcher {
  /** Reads the files again, even if they are unchanged. */
  readonly reload: () => Promise<void>
  readonly stop: () => void
}

/** Milliseconds between checks: network and overlay mounts report no changes. */
const interval = 30_000
/** Milliseconds between the changes of both files. */
const settling = 500

/** Watches a certificate and its key. It reports a new pair, or why the pair is unusable. */
export function watchTlsFiles(
  files: TlsFiles,
  current: TlsCredentials,
  { onCredentials, onProblem }: TlsFilesListener,
): TlsFilesWatcher {
  let seen: string | undefined = contentOf(current)

  const look = async (): Promise<void> => {
    const content = await readContent(files)
    if (content === seen) return
    const found = await readTlsCredentials(files).catch(toTlsError)
    if (!(found instanceof OperatorError)) {
      seen = contentOf(found)
      onCredentials(found)
      return
    }
    // One file may be new and the other one old: wait for the other one.
    await delay(settling, undefined, { ref: false })
    if ((await readContent(files)) !== content) return look()
    seen = content
    onProblem(found)
  }
  const folders = [dirname(files.cert), dirname(files.key)]
  const watcher = watchFolders(folders, look, { interval, settling: 50 })
  return {
    reload() {
      seen = undefined
      return watcher.look()
    },
    stop: () => watcher.close(),
  }
}

/** Reads both files; an unreadable file counts as empty. */
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
