import { escapeInvisible } from '@serve-dist/foundation/text/escape-invisible'
import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { inspect } from 'node:util'
import { internalServerError, notFound } from '../site/answers.ts'
import { compressResponse } from './compress-response.ts'
import { resetOrDestroy, markApplicationResponse } from '../send/reset-or-destroy.ts'
import { callOriginal } from '../send/intercept.ts'
import { type LoadedApplication, loadApplication } from './load-application.ts'
import type { Answer } from '../site/site.ts'
import { sendAnswer } from '../send/send-answer.ts'
import { acceptUpgrade, type UpgradeHandler } from '../send/upgrade.ts'

/** Answers a request for which the build has nothing. */
export type Application = (request: IncomingMessage, response: ServerResponse) => void

type Fail = (error: unknown) => void

/** The request to which the running code belongs. */
const currentRequest = new AsyncLocalStorage<Fail>()

/** An application that is mounted. */
export interface StartedApplication {
  readonly answer: Application
  /** Whether it takes the connections of WebSockets. */
  readonly takesUpgrades: boolean
}

/** Loads a module and mounts the handler that it exports; standard error gets the application's errors. */
export async function startApplication(file: string, passOn: Application): Promise<StartedApplication> {
  const loaded = await loadApplication(file)
  const answer = mountApplication(loaded, reportApplicationError, passOn)
  return { answer, takesUpgrades: loaded.upgrade !== undefined }
}

/** Prints an application's error, and the request during which it happened. */
export function reportApplicationError(error: unknown, what: string): void {
  process.stderr.write(
    `serve-dist: the application failed (${escapeInvisible(what)}): ${describeError(error)}\n`,
  )
}

/** Anything can be thrown, also what throws when it is read. */
function describeError(error: unknown): string {
  try {
    const isTold = error instanceof Error && error.stack !== undefined && error.cause === undefined
    return isTold ? String(error.stack) : inspect(error)
  } catch {
    return 'an error that cannot be printed'
  }
}

/**
 * Makes a handler safe to stand behind the build: compresses its answers while they are sent, answers its errors with a
 * 500 (or cuts the connection, where a part is sent already), and what it passes on with a 404 or by `passOn`.
 *
 * @param report - called with every error, and the request's method and target.
 */
export function mountApplication(
  { handler, upgrade }: LoadedApplication,
  report: (error: unknown, what: string) => void,
  passOn: Application = (_request, response) => send(response, notFound),
): Application {
  return (request, response) => {
    const what = `${request.method} ${request.url}`
    if (upgrade !== undefined && handOverUpgrade(upgrade, request, response, (error) => report(error, what)))
      return
    const fail: Fail = (error) => {
      report(error, what)
      // A complete answer is sent.
      if (response.headersSent && response.writableEnded) return
      try {
        Object.assign(response, before)
        if (response.headersSent) response.destroy()
        else sendFailure(response)
      } catch (second) {
        report(second, what)
        cutOff()
      }
    }
    const next = (error?: unknown): void => {
      // Connect applications call it for a path that is not theirs.
      if (error !== undefined && error !== null) fail(error)
      else if (!response.headersSent && !response.destroyed) attempt(() => passOn(request, response), fail)
    }
    // Without a listener, an error such as a write after the end would end the process.
    response.on('error', (error) => report(error, what))
    if (request.httpVersionMajor === 1) response.destroy = destroyPart
    // The application may wrap them, and compression may have begun: a failure is sent without either.
    const before = methodsOf(response)
    const cutOff = response.destroy.bind(response)
    markApplicationResponse(response)
    nameHost(request)
    compressResponse(request, response)
    destroyWithClient(request, response)
    currentRequest.run(fail, attempt, () => handler(request, response, next), fail)
  }
}

/** Gives the connection of a request that asks for a WebSocket away; false for any other request. */
function handOverUpgrade(
  upgrade: UpgradeHandler,
  request: IncomingMessage,
  response: ServerResponse,
  report: Fail,
): boolean {
  const taken = acceptUpgrade(response)
  if (taken === undefined) return false
  const { socket, head } = taken
  const hangUp: Fail = (error) => {
    report(error)
    socket.destroy()
  }
  currentRequest.run(hangUp, attempt, () => upgrade(request, socket, head), hangUp)
  return true
}

function attempt(act: () => unknown, fail: Fail): void {
  try {
    Promise.resolve(act()).catch(fail)
  } catch (error) {
    fail(error)
  }
}

/** Those that {@link sendFailure} needs. */
const neededMethods = [
  'writeHead',
  'write',
  'end',
  'destroy',
  'setHeader',
  'removeHeader',
  'getHeader',
  'getHeaderNames',
] as const

function methodsOf(response: ServerResponse): object {
  return Object.fromEntries(neededMethods.map((name) => [name, response[name]]))
}

/** Handlers look for `Host`, in the place of which HTTP/2 has `:authority` (RFC 9113 §8.3.1). */
function nameHost({ headers }: IncomingMessage): void {
  const authority = headers[':authority']
  if (typeof authority === 'string') headers.host ??= authority
}

/** Keeps the process alive after an uncaught error: only the request that it belongs to fails. */
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
 * A client that has closed its half may still read a file. An application wants to know when a client has gone, so
 * here a closed half counts as that, as in Node by default.
 */
function destroyWithClient({ socket, httpVersionMajor }: IncomingMessage, response: ServerResponse): void {
  if (httpVersionMajor !== 1) return
  const leave = (): void => void response.destroy()
  socket.once('end', leave)
  response.once('close', () => socket.off('end', leave))
}

/** One function for all responses. */
function destroyPart(this: ServerResponse, error?: Error): ServerResponse {
  if (this.socket !== null && !this.destroyed) resetOrDestroy(this.socket, this, error)
  callOriginal(this, 'destroy', [error])
  return this
}

function sendFailure(response: ServerResponse): void {
  // Node refuses to write a wrong one. HTTP/2 has none (RFC 9113 §8.3.2).
  if (response.req.httpVersionMajor === 1) response.statusMessage = ''
  for (const name of response.getHeaderNames()) {
    // A server that stops has set it.
    if (name !== 'connection') response.removeHeader(name)
  }
  send(response, internalServerError)
}

function send(response: ServerResponse, answer: Answer): void {
  if (!response.headersSent && !response.destroyed) sendAnswer(response, answer)
}
