import { connect } from 'node:net'
import { setImmediate, setTimeout as delay } from 'node:timers/promises'

/** What one client sends on one connection, and when. */
export interface ClientScript {
  readonly requests: readonly SentRequest[]
  /** Whether it closes its half at once behind the last octet; else once nothing more comes. */
  readonly closesHalf: boolean
}

/** A request as its client sends it, well-formed or not; texts have one character for each octet. */
export interface SentRequest {
  /** The head, each line with what ends it. */
  readonly lines: readonly string[]
  readonly body: string
  /** Places among the octets where the client stops for a moment. */
  readonly cuts: readonly number[]
  /** Whether the client waits for octets of an answer before it sends more; else what follows is pipelined. */
  readonly awaitsAnswer: boolean
}

/** What a client received, and how the server ended the connection. */
export interface Received {
  readonly octets: Buffer
  readonly end: 'closed' | 'reset' | 'left open'
}

/** Milliseconds without an octet that mean: the server waits for more. */
const quietTime = 1000

/** Far beyond what an answer may take on a busy machine. */
const patience = 10_000

/** Plays a client against the server on a port. */
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
  /** Whether something comes before the server has closed, and before so much time is over. */
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
      // Some pauses are long enough for a system that gathers what it sends.
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
