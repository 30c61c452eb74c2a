import { escapeInvisible } from '@serve-dist/foundation/text/escape-invisible'
import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { inspect } from 'node:util'
import { internalServerError, notFound } from '../site/answers.ts'
import { compressResponse } from './compress-response.ts'
import { destroyWithClient, markApplicationResponse } from '../send/reset-or-destroy.ts'
import type { SchemeReader } from './node-handler.ts'
import { type LoadedApplication, loadApplication } from './load-application.ts'
import type { Answer } from '../site/site.ts'
import { sendAnswer } from '../send/send-answer.ts'
import { acceptUpgrade, type UpgradeHandler } from '../send/upgrade.ts'

/** Answers a request for an unknown path. */
export type Application = (request: IncomingMessage, response: ServerResponse) => void

type Fail = (error: unknown) => void

/** The failure callback of the current request. */
const currentRequest = new AsyncLocalStorage<Fail>()

export interface StartedApplication {
  readonly answer: Application
  /** Whether it handles WebSocket connections. */
  readonly takesUpgrades: boolean
}

/** Loads a module and mounts its handler. Errors of the application go to standard error. */
export async function startApplication(
  file: string,
  passOn: Application,
  readScheme?: SchemeReader,
): Promise<StartedApplication> {
  const loaded = await loadApplication(file, readScheme)
  const answer = mountApplication(loaded, reportApplicationError, passOn)
  return { answer, takesUpgrades: loaded.upgrade !== undefined }
}

/** Prints an application's error and the request that caused it. */
export function reportApplicationError(error: unknown, what: string): void {
  process.stderr.write(
    `serve-dist: the application failed (${escapeInvisible(what)}): ${describeError(error)}\n`,
  )
}

/** Formats any thrown value, including objects that throw when they are read. */
function describeError(error: unknown): string {
  try {
    const isTold = error instanceof Error && error.stack !== undefined && error.cause === undefined
    return isTold ? String(error.stack) : inspect(error)
  } catch {
    return 'an error that cannot be printed'
  }
}

/**
 * Mounts a handler for paths that the build lacks. It compresses the responses, and answers errors with a 500 (or cuts the
 * connection after a partial response). If the handler calls `next`, it answers 404 or calls `passOn`.
 *
 * @param report - called with each error, and with the method and target of the request.
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
      // Connect applications call `next` for unknown paths.
      if (error !== undefined && error !== null) fail(error)
      else if (!response.headersSent && !response.destroyed) attempt(() => passOn(request, response), fail)
    }
    // Without a listener, an error such as a write after the end would stop the process.
    response.on('error', (error) => report(error, what))
    markApplicationResponse(response)
    // A failure needs the original methods, without wrappers of the application or of the compression.
    const before = methodsOf(response)
    const cutOff = response.destroy.bind(response)
    nameHost(request)
    compressResponse(request, response)
    destroyWithClient(request, response)
    currentRequest.run(fail, attempt, () => handler(request, response, next), fail)
  }
}

/** Passes the connection of a WebSocket request to the application. Returns false for other requests. */
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

/** The methods that {@link sendFailure} needs. */
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

/** Sets `Host` for handlers. HTTP/2 has `:authority` instead (RFC 9113 §8.3.1). */
function nameHost({ headers }: IncomingMessage): void {
  const authority = headers[':authority']
  if (typeof authority === 'string') headers.host ??= authority
}

/** Keeps the process alive after an uncaught error. Only the request that caused it fails. */
export function keepRunning(report: (error: unknown, what: string) => void): void {
  const survive = (error: unknown): void => {
    const fail = currentRequest.getStore()
    if (fail === undefined) report(error, 'no request')
    else fail(error)
  }
  process.on('uncaughtException', survive)
  process.on('unhandledRejection', survive)
}

function sendFailure(response: ServerResponse): void {
  // Node refuses an invalid status message. HTTP/2 has no status message (RFC 9113 §8.3.2).
  if (response.req.httpVersionMajor === 1) response.statusMessage = ''
  for (const name of response.getHeaderNames()) {
    // A server that is shutting down has set `Connection`.
    if (name !== 'connection') response.removeHeader(name)
  }
  send(response, internalServerError)
}

function send(response: ServerResponse, answer: Answer): void {
  if (!response.headersSent && !response.destroyed) sendAnswer(response, answer)
}
