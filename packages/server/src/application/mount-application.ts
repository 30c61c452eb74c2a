import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { internalServerError, notFound } from '../site/answers.ts'
import { compressResponse } from './compress-response.ts'
import { cutOff, noteApplication } from '../send/cut-off.ts'
import type { NodeHandler } from './find-application.ts'
import { callOriginal } from '../send/observation.ts'
import type { Answer } from '../site/site.ts'
import { sendAnswer } from '../send/send-answer.ts'

/** Answers a request that the build has no answer for. */
export type Application = (request: IncomingMessage, response: ServerResponse) => void

type Fail = (error: unknown) => void

/** Which request the code that runs belongs to. */
const currentRequest = new AsyncLocalStorage<Fail>()

/**
 * Makes a handler safe to stand behind the build: its answers are compressed while they are sent, its
 * errors are a 500 (or a cut connection, where a part is sent already), and what it passes on is a 404.
 *
 * @param report - called with every error, and what was asked for.
 */
export function mountApplication(
  handler: NodeHandler,
  report: (error: unknown, what: string) => void,
): Application {
  return (request, response) => {
    const what = `${request.method} ${request.url}`
    const fail: Fail = (error) => {
      report(error, what)
      // What was made whole before is sent.
      if (response.writableEnded) return
      if (response.headersSent) response.destroy()
      else sendFailure(response)
    }
    const next = (error?: unknown): void => {
      // What Connect's applications call for a path that is not theirs.
      if (error === undefined || error === null) send(response, notFound)
      else fail(error)
    }
    // Without a listener an error such as a write after the end would be the end of the process.
    response.on('error', (error) => report(error, what))
    if (request.httpVersionMajor === 1) response.destroy = destroyPart
    noteApplication(response)
    compressResponse(request, response)
    destroyWithClient(request, response)
    currentRequest.run(fail, () => {
      try {
        Promise.resolve(handler(request, response, next)).catch(fail)
      } catch (error) {
        fail(error)
      }
    })
  }
}

/** Answers what nobody caught: the request that it belongs to fails, and the process goes on. */
export function keepRunning(report: (error: unknown, what: string) => void): void {
  const survive = (error: unknown): void => {
    const fail = currentRequest.getStore()
    if (fail === undefined) report(error, 'no request')
    else fail(error)
  }
  process.on('uncaughtException', survive)
  process.on('unhandledRejection', survive)
}

/**
 * A client that has closed its half may still wait for a file, which is sent in no time. Who makes a page
 * for it wants to know that it has gone, and so the close counts as that, as by Node's own default.
 */
function destroyWithClient({ socket, httpVersionMajor }: IncomingMessage, response: ServerResponse): void {
  if (httpVersionMajor !== 1) return
  const leave = (): void => void response.destroy()
  socket.once('end', leave)
  response.once('close', () => socket.off('end', leave))
}

/** One function for all responses. */
function destroyPart(this: ServerResponse, error?: Error): ServerResponse {
  if (this.socket !== null && !this.destroyed) cutOff(this.socket, this, error)
  callOriginal(this, 'destroy', [error])
  return this
}

function sendFailure(response: ServerResponse): void {
  for (const name of response.getHeaderNames()) {
    // A server that stops has said that it closes.
    if (name !== 'connection') response.removeHeader(name)
  }
  send(response, internalServerError)
}

function send(response: ServerResponse, answer: Answer): void {
  if (!response.headersSent && !response.destroyed) sendAnswer(response, answer)
}
