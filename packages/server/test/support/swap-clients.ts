import { createHash } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { Agent } from 'node:http'
import { connect } from 'node:http2'
import { Agent as TlsAgent } from 'node:https'
import { dialTls } from './dial-tls.ts'
import { fetchWhole, fetchWholeOverHttp2, type WholeAnswer } from './fetch-whole.ts'
import type { NumberedBuilds } from './create-numbered-builds.ts'
import { openConnection } from './open-connection.ts'
import { formatRequest } from './raw-request.ts'

/** Clients that request files from one server until they are stopped, and check each response. */
export interface SwapClients {
  /** Records that the server has swapped to a build. New requests must not get older builds. */
  noteServed(build: number): void
  /** Lets each client finish its request. */
  finish(): Promise<void>
  /**
   * Responses that failed, were truncated, or were not from one build that was deployed during the request.
   */
  readonly failures: readonly string[]
  /** The number of responses by kind of client. */
  readonly answers: Readonly<Record<string, number>>
}

const acceptEncodings = ['zstd, br, gzip', 'br', 'gzip', 'identity'] as const
const largest = { path: 'film.mp4', acceptEncoding: 'identity' }
/** The number of bytes between pauses of a slow reader. A body of 20 MB then lasts four swaps. */
const stretch = 4_000_000

/** Starts clients that request all files of the builds, over TLS also with HTTP/2. */
export function startSwapClients(
  port: number,
  builds: Pick<NumberedBuilds, 'paths' | 'newest' | 'known'>,
  scheme: 'http' | 'https' = 'http',
): SwapClients {
  /** One connection for sequential requests. */
  const keepAlive = (): Agent => {
    const options = { keepAlive: true, maxSockets: 1 }
    return scheme === 'http' ? new Agent(options) : new TlsAgent(options)
  }
  const events = new EventEmitter().setMaxListeners(0)
  const failures: string[] = []
  const answers: Record<string, number> = {}
  const smaller = builds.paths.filter((path) => path !== largest.path)
  let served = builds.newest()
  const done = new AbortController()
  let turn = 0

  /** Returns each file in each coding, in turn. */
  const next = (): { path: string; acceptEncoding: string } => {
    turn += 1
    const path = smaller[turn % smaller.length] ?? largest.path
    return { path, acceptEncoding: acceptEncodings[Math.floor(turn / smaller.length) % 4] ?? 'identity' }
  }

  /** Checks that a response is from one build that was deployed during the request. */
  const check = (
    kind: string,
    { path, oldest }: { path: string; oldest: number },
    got: WholeAnswer,
  ): void => {
    const { status, field, length, sha256 } = got
    const promised = builds.known(path, field('ETag') ?? '')
    answers[kind] = (answers[kind] ?? 0) + 1
    const isRight =
      promised !== undefined &&
      status === 200 &&
      field('Content-Length') === String(promised.size) &&
      (field('Content-Encoding') ?? 'identity') === promised.coding &&
      length === promised.size &&
      sha256 === promised.sha256 &&
      promised.build >= oldest &&
      promised.build <= builds.newest()
    if (isRight) return
    failures.push(
      `${kind}: ${path}: ${status}, ${length} bytes, ${JSON.stringify(promised)}, of ${oldest} to ${builds.newest()}`,
    )
  }

  const repeat = async (kind: string, ask: () => Promise<void>): Promise<void> => {
    while (!done.signal.aborted) {
      try {
        await ask()
      } catch (error) {
        failures.push(`${kind}: ${String(error)}`)
      }
    }
  }

  const fetching = async (
    kind: string,
    agent: Agent | false,
    choose: () => { path: string; acceptEncoding: string },
  ): Promise<void> => {
    await repeat(kind, async () => {
      const wanted = choose()
      const sent = { path: wanted.path, oldest: served }
      check(kind, sent, await fetchWhole({ port, scheme, agent, ...wanted }))
    })
    if (agent !== false) agent.destroy()
  }

  /** Sends four requests at once on one connection. The server decides the last ones early. */
  const pipelining = async (): Promise<void> => {
    const connection = await openConnection(port, scheme === 'https' ? dialTls : undefined)
    await repeat('pipelined', async () => {
      const wanted = [next(), next(), next(), next()]
      const oldest = served
      const requests = wanted.map(({ path, acceptEncoding }) =>
        formatRequest({ target: `/${path}`, fields: { 'Accept-Encoding': acceptEncoding } }),
      )
      connection.send(requests.join(''))
      for (const { path } of wanted) {
        const { status, field, body } = await connection.receive()
        const sha256 = createHash('sha256').update(body).digest('hex')
        check('pipelined', { path, oldest }, { status, field, length: body.length, sha256 })
      }
    })
    connection.socket.destroy()
  }

  /** Reads a body of 20 MB over several swaps. */
  const readingSlowly = (): Promise<void> =>
    repeat('slow readers', async () => {
      const sent = { path: largest.path, oldest: served }
      let rests = 1
      const pause = (received: number): Promise<unknown> | undefined => {
        if (done.signal.aborted || received < rests * stretch) return undefined
        rests += 1
        return once(events, 'swap')
      }
      check('slow readers', sent, await fetchWhole({ port, scheme, agent: false, ...largest, pause }))
    })

  /** Sends four concurrent requests on one session. */
  const multiplexing = async (): Promise<void> => {
    const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    await repeat('HTTP/2', async () => {
      const oldest = served
      const wanted = [next(), next(), next(), largest]
      await Promise.all(
        wanted.map(async (file) => {
          check('HTTP/2', { path: file.path, oldest }, await fetchWholeOverHttp2(session, file))
        }),
      )
    })
    session.close()
  }

  const clients = [
    ...(scheme === 'https' ? [multiplexing(), multiplexing()] : []),
    fetching('keep-alive', keepAlive(), next),
    fetching('keep-alive', keepAlive(), next),
    fetching('20 MB', keepAlive(), () => largest),
    fetching('new connections', false, next),
    fetching('new connections', false, next),
    pipelining(),
    readingSlowly(),
    readingSlowly(),
  ]

  return {
    failures,
    answers,
    noteServed(build) {
      served = build
      events.emit('swap')
    },
    async finish() {
      done.abort()
      events.emit('swap')
      await Promise.all(clients)
    },
  }
}
