import { OperatorError } from '@serve-dist/manifest'
import { changedFiles } from '../../files/changed-files.ts'
import { comparedBuild, siteCounts } from '../../site/site.ts'
import type { StagedSite } from '../../live/open-staged-site.ts'
import type { WaitToListen, StagedServer } from '../serve.ts'
import { replaceSignalListeners } from '../replace-signal-listeners.ts'
import { isPrimaryMessage, type PrimaryOrder, sendToPrimary } from './worker-messages.ts'

/**
 * Runs a worker: reports to the primary process and follows its orders.
 *
 * @param start - starts the server, which asks for permission before it listens.
 */
export async function runWorker(start: (mayListen: WaitToListen) => Promise<StagedServer>): Promise<void> {
  // Terminals and systemd signal all processes. Only the primary process reacts, and it sends orders to the
  // workers.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    replaceSignalListeners(signal, () => {})
  }
  reportChangedFiles()
  let server: StagedServer | undefined
  const mayListen: WaitToListen = async (live, readMetrics) => {
    const allowed = new Promise<void>((resolve) => {
      process.on('message', (message: unknown) => {
        if (!isPrimaryMessage(message) || message.type === 'serve-dist:reply') return
        if (message.type === 'serve-dist:listen') resolve()
        else if (message.type === 'serve-dist:metrics') void sendMetrics(readMetrics)
        else handleOrder(message, live, server)
      })
    })
    await sendToPrimary({
      type: 'serve-dist:loaded',
      ...comparedBuild(live.current),
      ...siteCounts(live.current),
    })
    await allowed
  }
  server = await start(mayListen).catch(async (error: unknown) => {
    if (!(error instanceof OperatorError)) throw error
    await sendToPrimary({ type: 'serve-dist:failed', code: error.code, message: error.message })
    return process.exit(1)
  })
  const { url, redirectUrl, site } = server
  const residentBytes = process.memoryUsage.rss()
  await sendToPrimary({ type: 'serve-dist:ready', url, redirectUrl, summary: site.summary, residentBytes })
}

/** Reports changed files to the primary process, which watches the folder; at most once per second. */
function reportChangedFiles(): void {
  let isResting = false
  changedFiles.subscribe(() => {
    if (isResting) return
    isResting = true
    setTimeout(() => {
      isResting = false
    }, 1000).unref()
    void sendToPrimary({ type: 'serve-dist:changed-file' })
  })
}

function handleOrder({ type }: PrimaryOrder, live: StagedSite, server: StagedServer | undefined): void {
  switch (type) {
    case 'serve-dist:ping':
      void sendToPrimary({ type: 'serve-dist:pong' })
      break
    case 'serve-dist:certify':
      void (async () => {
        await server?.reloadCertificate()
        await sendToPrimary({ type: 'serve-dist:certified' })
      })()
      break
    case 'serve-dist:prepare':
      void (async () => {
        await sendToPrimary({ type: 'serve-dist:prepared', outcome: await live.prepare() })
      })()
      break
    case 'serve-dist:swap':
      live.swap()
      void sendToPrimary({ type: 'serve-dist:swapped' })
      break
    case 'serve-dist:drop':
      void live.drop()
      break
    case 'serve-dist:drain':
      void server?.close().finally(() => process.exit())
      break
    case 'serve-dist:listen':
    case 'serve-dist:metrics':
      break
    default:
      throw new TypeError(`unknown message: ${String(type satisfies never)}`)
  }
}

async function sendMetrics(readMetrics: Parameters<WaitToListen>[1]): Promise<void> {
  await sendToPrimary({ type: 'serve-dist:counted', content: await readMetrics() })
}
