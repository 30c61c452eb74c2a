import { connect } from 'node:net'
import { setImmediate, setTimeout as delay } from 'node:timers/promises'

/** The bytes that one client sends on one connection, and their timing. */
export interface ClientScript {
  readonly requests: readonly SentRequest[]
  /** Whether the client closes its half right after the last octet, or when the server is silent. */
  readonly closesHalf: boolean
}

/** A request, well-formed or not. Strings have one character for each octet. */
export interface SentRequest {
  /** The lines of the head with their line ends. */
  readonly lines: readonly string[]
  readonly body: string
  /** Offsets where the client pauses. */
  readonly cuts: readonly number[]
  /** Whether the client waits for a part of the response. Otherwise it pipelines the next request. */
  readonly awaitsAnswer: boolean
}

/** The bytes that a client received, and how the connection ended. */
export interface Received {
  readonly octets: Buffer
  readonly end: 'closed' | 'reset' | 'left open'
}

/** Milliseconds without an octet that show that the server waits for more. */
const quietTime = 1000

/** Milliseconds. Far more than any response needs on a busy machine. */
const patience = 10_000

/** Runs a client script against the server on a port. */
export async function playScript(port: number, { requests, closesHalf }: ClientScript): Promise<Received> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  const chunks: Buffer[] = []
  let end: Received['end'] = 'left open'
  let wake: ((hasCome: boolean) => void) | undefined
  const endBy = (how: Received['end']) => (): void => {
    if (end === 'left open') end = how
    wake?.(false)
  }
  socket.on('end', endBy('closed'))
  socket.on('error', endBy('reset'))
  socket.on('connect', () => wake?.(true))
  socket.on('data', (chunk) => {
    chunks.push(chunk)
    wake?.(true)
  })
  /** Waits for octets until the time is over. Returns `false` for silence or if the server has closed. */
  const heard = async (milliseconds: number): Promise<boolean> => {
    if (end !== 'left open') return false
    let timer: NodeJS.Timeout | undefined
    const hasCome = await new Promise<boolean>((resolve) => {
      wake = resolve
      timer = setTimeout(resolve, milliseconds, false)
    })
    clearTimeout(timer)
    return hasCome
  }
  const listen = async (milliseconds: number): Promise<void> => {
    if (await heard(milliseconds)) await listen(milliseconds)
  }

  let pending = ''
  const flush = (): void => {
    if (socket.writable) socket.write(Buffer.from(pending, 'latin1'))
    pending = ''
  }
  await heard(patience)
  for (const { lines, body, cuts, awaitsAnswer } of requests) {
    const octets = lines.join('') + body
    let sent = 0
    for (const cut of cuts) {
      pending += octets.slice(sent, cut)
      sent = Math.max(sent, cut)
      flush()
      // Some pauses exceed the delay of Nagle's algorithm.
      await (cut % 4 === 0 ? delay(2) : setImmediate())
    }
    pending += octets.slice(sent)
    if (!awaitsAnswer) continue
    flush()
    await heard(patience)
  }
  if (closesHalf) socket.end(Buffer.from(pending, 'latin1'))
  else {
    flush()
    await listen(quietTime)
    socket.end()
  }
  await listen(patience)
  socket.destroy()
  return { octets: Buffer.concat(chunks), end }
}
