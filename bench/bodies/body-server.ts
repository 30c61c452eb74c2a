// One way of sending the bytes of a file, as plainly as it can be done. BENCH_WAY names it, see ways.ts.
import { createReadStream, openSync, read, readdirSync, readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { readPeerInput } from '../serve/peers/programs/peer-input.ts'
import { parseWay, type Way } from './ways.ts'

const { directory, port } = readPeerInput()
const way = parseWay(process.env['BENCH_WAY'] ?? '')
const senders = new Map(
  readdirSync(directory).map((name) => [`/${name}`, createSender(join(directory, name), way)]),
)

createServer((request, response) => {
  const send = senders.get(request.url ?? '')
  if (send === undefined) response.writeHead(404).end()
  else send(response)
}).listen(port, '127.0.0.1')

type Sender = (response: ServerResponse) => void

function createSender(file: string, { kind, chunkSize }: Way): Sender {
  const bytes = readFileSync(file)
  const size = bytes.length
  const fields = ['Content-Type', 'application/octet-stream', 'Content-Length', String(size)]
  const writeHead = (response: ServerResponse): unknown => response.writeHead(200, fields)
  const kept: Kept = { descriptor: openSync(file, 'r'), size, writeHead }
  const senderOf: Record<Way['kind'], () => Sender> = {
    memory: () => (response) => {
      writeHead(response)
      response.end(bytes)
    },
    path: () => (response) => {
      writeHead(response)
      createReadStream(file).pipe(response)
    },
    pooled: () => sendPooled(kept),
    chunks: () => sendChunks(kept, chunkSize),
    ahead: () => sendAhead(kept, chunkSize),
  }
  return senderOf[kind]()
}

interface Kept {
  readonly descriptor: number
  readonly size: number
  readonly writeHead: (response: ServerResponse) => void
}

/** One read into a buffer that is used again, and one write. */
function sendPooled({ descriptor, size, writeHead }: Kept): Sender {
  const pool: Buffer[] = []
  return (response) => {
    const buffer = pool.pop() ?? Buffer.allocUnsafeSlow(size)
    read(descriptor, buffer, 0, size, 0, (error) => {
      if (error !== null) throw error
      writeHead(response)
      response.end(buffer, () => pool.push(buffer))
    })
  }
}

/** Read, write, read, write: one buffer a reader. */
function sendChunks({ descriptor, size, writeHead }: Kept, chunkSize: number): Sender {
  return (response) => {
    const buffer = Buffer.allocUnsafeSlow(Math.min(chunkSize, size))
    let position = 0
    writeHead(response)
    const next = (): void => {
      if (position === size) {
        response.end()
        return
      }
      read(descriptor, buffer, 0, Math.min(chunkSize, size - position), position, (error, bytesRead) => {
        if (error !== null) throw error
        position += bytesRead
        response.write(buffer.subarray(0, bytesRead), next)
      })
    }
    next()
  }
}

/** The next chunk is read while the last is sent: two buffers a reader. */
function sendAhead({ descriptor, size, writeHead }: Kept, chunkSize: number): Sender {
  return (response) => {
    const buffers = [chunkSize, chunkSize].map((length) => Buffer.allocUnsafeSlow(Math.min(length, size)))
    const readAt = (position: number, turn: number): Promise<Buffer> =>
      new Promise((resolve, reject) => {
        const buffer = buffers[turn % 2] ?? Buffer.alloc(0)
        read(descriptor, buffer, 0, Math.min(chunkSize, size - position), position, (error, bytesRead) => {
          if (error === null) resolve(buffer.subarray(0, bytesRead))
          else reject(error)
        })
      })
    const write = (chunk: Buffer): Promise<void> =>
      new Promise((resolve) => response.write(chunk, () => resolve()))
    const run = async (): Promise<void> => {
      let chunk = await readAt(0, 0)
      for (let position = chunk.length, turn = 1; position < size; turn += 1) {
        const [following] = await Promise.all([readAt(position, turn), write(chunk)])
        chunk = following
        position += chunk.length
      }
      response.end(chunk)
    }
    writeHead(response)
    run().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined))
  }
}
