import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import { urlToHttpOptions } from 'node:url'
import { formatBytes } from '@serve-dist/foundation/text/byte-size'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import { type ContentCoding, largestKeptList, OperatorError } from '@serve-dist/manifest'
import { siteInvalid, siteUnavailable } from './site-errors.ts'
import { writeReplacement } from './write-replacement.ts'

/** How to connect to a site. */
export interface SiteAccess {
  readonly address: URL
  /** Headers of every request, such as `Authorization`. */
  readonly fields: Readonly<Record<string, string>>
  readonly concurrency: number
  readonly signal: AbortSignal
}

/** A file or a variant to download. */
export interface WantedBlob {
  /** The percent-encoded path on the host. */
  readonly path: string
  readonly coding: ContentCoding | 'identity'
  /** The number of encoded bytes. */
  readonly size: number
  readonly sha256: string
}

/** A running site. Its methods throw OperatorError `SD_SITE_UNAVAILABLE` or `SD_SITE_INVALID`. */
export interface RunningSite {
  /** Returns the text of a JSON document, or `undefined` if the site does not have it. */
  readDocument(path: string): Promise<string | undefined>
  /**
   * Downloads a blob to a file, which appears complete or not at all.
   *
   * @returns whether the site sent this coding. A CDN may remove codings.
   */
  download(blob: WantedBlob, file: string): Promise<boolean>
  close(): void
}

/** Milliseconds without a byte until a request fails. */
const patience = 30_000
/** The time limit of a request grows by a millisecond for each 10 bytes. */
const slowest = 10
/** The maximum number of bytes that a body may arrive in besides twice its own. Many small chunks take much memory. */
const mostFraming = 256 * 1024
/** The maximum length of an address in a message. */
const longestAddress = 200
/** One more attempt recovers from a server that closed an idle connection just before its next use. */
const tries = 2

export function openSite({ address, fields, concurrency, signal }: SiteAccess): RunningSite {
  const isSecure = address.protocol === 'https:'
  const settings = { keepAlive: true, maxSockets: concurrency }
  const agent = isSecure ? new https.Agent(settings) : new http.Agent(settings)
  const request = isSecure ? https.request : http.request
  const { protocol, hostname, port } = urlToHttpOptions(address)
  signal.addEventListener('abort', () => agent.destroy(), { once: true })

  /** Sends a request and reads the answer within a time limit. Repeats it if the site was unavailable. */
  async function ask<Result>(
    { path, coding, size }: Omit<WantedBlob, 'sha256'>,
    read: (response: IncomingMessage) => Promise<Result>,
  ): Promise<Result> {
    for (let left = tries; ; left -= 1) {
      try {
        return await askOnce()
      } catch (error) {
        const isFinal = left === 1 || signal.aborted
        if (isFinal || !(error instanceof OperatorError) || error.code !== 'SD_SITE_UNAVAILABLE') throw error
      }
    }

    async function askOnce(): Promise<Result> {
      signal.throwIfAborted()
      const headers = { 'user-agent': 'serve-dist-carry', ...fields, 'accept-encoding': coding }
      const asked = request({ protocol, hostname, port, path, agent, headers, timeout: patience }).end()
      const fail = (): unknown => asked.destroy(new Error('the answer takes too long'))
      // Timers of equal durations cost less.
      const seconds = Math.ceil((patience + size / slowest) / 1000)
      const deadline = setTimeout(fail, Math.min(seconds * 1000, 2 ** 31 - 1))
      asked.once('timeout', fail)
      try {
        const response = await responseTo(asked).catch((error: unknown) => {
          throw unreachable(path, error)
        })
        return await read(response).finally(() => response.destroy())
      } finally {
        clearTimeout(deadline)
      }
    }
  }

  function unreachable(path: string, error: unknown): OperatorError {
    return siteUnavailable(
      `${placeOf(address, path)}: ${reasonOf(error)}. Check the URL and that the site runs.`,
      error,
    )
  }

  /**
   * Passes the body on in chunks. Events take a fifth less time than an iterator.
   *
   * @returns the number of bytes.
   * @throws OperatorError if the site fails, and every error of `take`.
   */
  async function readBody(
    response: IncomingMessage,
    { path, size }: Pick<WantedBlob, 'path' | 'size'>,
    take: (chunk: Buffer) => void,
  ): Promise<number> {
    const { socket } = response
    const before = socket.bytesRead
    let read = 0
    return await new Promise((resolve, reject) => {
      response.on('data', (chunk: Buffer) => {
        try {
          read += chunk.length
          if (read > size) throw siteInvalid(`${placeOf(address, path)} has more than ${formatBytes(size)}.`)
          if (socket.bytesRead - before > 2 * read + mostFraming)
            throw siteInvalid(`${placeOf(address, path)} arrives in chunks of a few bytes.`)
          take(chunk)
        } catch (error) {
          reject(error)
          response.destroy()
        }
      })
      response.once('end', () => resolve(read))
      response.once('error', (error) => reject(unreachable(path, error)))
      response.once('close', () => {
        if (!response.readableEnded) reject(unreachable(path, new Error('the connection closed')))
      })
    })
  }

  /** Returns the coding of a 200. */
  function codingOf({ statusCode = 0, headers }: IncomingMessage, path: string): string {
    const place = placeOf(address, path)
    if (statusCode >= 300 && statusCode < 400) {
      const target = headers.location?.slice(0, 200) ?? 'no location'
      throw siteInvalid(`${place} redirects to ${target}. Pass the address of the site itself.`)
    }
    if (statusCode !== 200) {
      const fix =
        statusCode === 404
          ? 'The site lists this file. If its folder was changed, restart or reload its server.'
          : 'Check the URL, the headers of --header and the log of the site.'
      throw siteUnavailable(`${place} answers ${statusCode}. ${fix}`)
    }
    return headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  }

  return {
    readDocument: async (path) => {
      const document = { path, coding: 'identity', size: largestKeptList } as const
      return await ask(document, async (response) => {
        const { statusCode, headers } = response
        // Many servers answer each unknown path with a page.
        const isPage = statusCode === 200 && /^text\/html\b/i.test(headers['content-type'] ?? '')
        if (statusCode === 404 || isPage) return undefined
        if (codingOf(response, path) !== 'identity')
          throw siteInvalid(`${placeOf(address, path)} is compressed.`)
        // A list of chunks would take much more memory, because a chunk may have one byte.
        const bytes = Buffer.allocUnsafe(largestKeptList)
        let length = 0
        await readBody(response, document, (chunk) => {
          length += chunk.copy(bytes, length)
        })
        try {
          return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length))
        } catch {
          throw siteInvalid(`${placeOf(address, path)} is not UTF-8.`)
        }
      })
    },
    download: async (blob, file) =>
      await ask(blob, async (response) => {
        const { path, coding, sha256 } = blob
        const found = codingOf(response, path)
        if (found !== coding && coding !== 'identity') return false
        const digest = createHash('sha256')
        await writeReplacement(file, async (descriptor) => {
          const read = await readBody(response, blob, (chunk) => {
            digest.update(chunk)
            writeFileSync(descriptor, chunk)
          })
          if (found !== coding || read !== blob.size || digest.digest('hex') !== sha256)
            throw siteInvalid(`${placeOf(address, path)} (${coding}) does not match its digest and size.`)
        })
        return true
      }),
    close: () => agent.destroy(),
  }
}

/** Returns an address for messages. */
export function placeOf({ origin }: URL, path: string): string {
  return `${origin}${path}`.slice(0, longestAddress)
}

/** Resolves with the head of the response. Later errors are those of its body. */
async function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    // Creating an error for each answered request would take a twentieth of the time.
    const end = (): void => reject(new Error('the connection closed without an answer'))
    request.once('close', end).on('error', reject)
    request.once('response', (response) => {
      request.off('close', end)
      resolve(response)
    })
  })
}
