import type { IncomingMessage, ServerResponse } from 'node:http'
import { internalServerError, notFound } from '../site/answers.ts'
import { sendFile } from './send-file.ts'
import type { Answer } from '../site/site.ts'
import { type FileContent, StoredFileError } from '../files/stored-file.ts'
import { writeHead } from './write-head.ts'

/** Sends what was decided. */
export interface Sender {
  send(request: IncomingMessage, response: ServerResponse, answer: Answer): void
  /** Before the head, a body that fails is a clean error; after it, a destroyed socket. */
  recover(request: IncomingMessage, response: ServerResponse, error: unknown): void
}

/**
 * Makes a sender for `node:http` and `node:http2`.
 *
 * @param report - called with each file that vanished or changed, and with whatever else fails.
 */
export function createSender(report: (problem: Error) => void): Sender {
  return { send, recover }

  function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
    const { content } = answer
    if (content.kind === 'none' || request.method === 'HEAD') {
      writeHead(response, answer)
      response.end()
    } else if (content.kind === 'memory') {
      writeHead(response, answer)
      response.end(content.bytes)
    } else {
      const head = writeHead.bind(undefined, response, answer)
      stream(request, response, { content, writeHead: head })
    }
  }

  function stream(
    request: IncomingMessage,
    response: ServerResponse,
    body: { readonly content: FileContent; readonly writeHead: () => void },
  ): void {
    sendFile(response, body.content, body.writeHead).catch((error: unknown) => {
      recover(request, response, error)
    })
  }

  function recover(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    // A client that goes away in mid-body is no problem of ours.
    if (response.headersSent) {
      response.destroy()
      if (error instanceof StoredFileError) report(error)
      return
    }
    report(error instanceof Error ? error : new Error(String(error)))
    const status = error instanceof StoredFileError ? error.status : 500
    send(request, response, status === 404 ? notFound : internalServerError)
  }
}
