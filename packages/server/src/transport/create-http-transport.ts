import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { connectionLimits } from '../protocol/connection-limits.ts'
import { isInvalidHead } from '../protocol/request-head.ts'
import { listen } from './listen.ts'
import { asksForWebSocket, listenForUpgrades } from './listen-for-upgrades.ts'
import { createRefusingListener } from './create-refusing-listener.ts'
import { normalizeTarget } from './normalize-target.ts'
import { trackConnections } from './track-connections.ts'
import type { RequestListener, Transport, TransportOptions } from './transport.ts'
import { offerContinue } from '../send/continue.ts'
import { runWhenWritable } from '../send/run-when-writable.ts'

/** Creates a transport for HTTP/1.1 over TCP with limits for clients. */
export function createHttpTransport(
  listener: RequestListener,
  {
    takesUploads: takesUploadsAtStart,
    takesUpgrades = false,
    responseClass = ServerResponse,
    watcher,
    limits = connectionLimits,
  }: TransportOptions,
): Transport {
  let isClosing = false
  let takesUploads = false
  /** Connections that close after a running answer; later requests are not answered (RFC 9112 §9.6). */
  const ending = new WeakSet<Socket>()
  /**
   * Connections with a request that expects a 100. If its answer comes without the 100, Node closes the connection after it.
   * So later requests wait for their turn.
   */
  const oneByOne = new WeakSet<Socket>()

  const refusals = {
    400: createRefusingListener(400, watcher),
    417: createRefusingListener(417, watcher),
    505: createRefusingListener(505, watcher),
  }
  const refuse = (request: IncomingMessage, response: ServerResponse, status: 400 | 417 | 505): void => {
    ending.add(request.socket)
    tracker.track(response)
    refusals[status](request, response)
  }
  /** Calls `act` if the listener may answer a request; otherwise it rejects or drops the request. */
  const admit = (request: IncomingMessage, response: ServerResponse, act: () => void): void => {
    const begin = (): void => {
      // The client would not get the answer.
      if (ending.has(request.socket) || !request.socket.writable) return
      const refusal = refusalOf(request)
      if (refusal === undefined) act()
      else refuse(request, response, refusal)
    }
    if (oneByOne.has(request.socket)) runWhenWritable(response, begin)
    else begin()
  }
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    tracker.track(response)
    if (isClosing && !ending.has(request.socket)) {
      ending.add(request.socket)
      response.setHeader('Connection', 'close')
    }
    listener(request, response)
  }

  // We reject requests without Host, because Node's own rejection emits no event.
  const options = {
    ...limits,
    ServerResponse: responseClass,
    requireHostHeader: false,
    shouldUpgradeCallback: (request: IncomingMessage): boolean =>
      server.listenerCount('upgrade') > 0 && asksForWebSocket(request),
  }
  const answerAdmitted: RequestListener = (request, response) => {
    admit(request, response, () => answer(request, response))
  }
  const server: Server = createServer(options, answerAdmitted)
  const takeUpgrades = (): void => {
    if (server.listenerCount('upgrade') > 0) return
    listenForUpgrades(server, (request) => new responseClass(request), {
      answer: answerAdmitted,
      refuse: (request, response) => refuse(request, response, 400),
    })
  }
  const takeUploads = (): void => {
    takesUploads = true
    server.requestTimeout = limits.uploadTimeout
  }
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    oneByOne.add(request.socket)
    admit(request, response, () => {
      if (expectationsOf(request).some((expectation) => expectation !== '100-continue')) {
        refuse(request, response, 417)
        return
      }
      if (takesUploads) offerContinue(response, () => response.writeContinue())
      answer(request, response)
    })
  })
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    admit(request, response, () => {
      if (expectationsOf(request).length > 0) refuse(request, response, 417)
      else answer(request, response)
    })
  })
  const tracker = trackConnections(server, {
    takesUploads: () => takesUploads,
    noteRefusal: (socket, failure, response) => watcher?.noteRefusal(socket, failure, response),
  })
  if (watcher !== undefined) server.on('connection', (socket: Socket) => watcher.noteConnection(socket))
  server.on('drop', () => watcher?.noteDrop())
  // A client that has closed its half still waits for its answer (RFC 9112 §9.6). Node's types lack this
  // option.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.setTimeout(limits.socketTimeout)
  if (takesUploadsAtStart) takeUploads()
  if (takesUpgrades) takeUpgrades()
  server.maxConnections = limits.maximumConnections

  return {
    scheme: 'http',
    server,
    listen: (address) => listen({ server, scheme: 'http' }, address),
    takeUploadsAndUpgrades() {
      takeUploads()
      takeUpgrades()
    },
    async drain(gracePeriod) {
      isClosing = true
      const deadline = setTimeout(() => {
        // The system may deliver queued connections later.
        server.on('connection', (socket: Socket) => socket.destroy())
        tracker.destroyAll()
      }, gracePeriod)
      await tracker.drain()
      clearTimeout(deadline)
    },
  }
}

/** RFC 9110 §10.1.1: a list; only the member `100-continue` is defined. */
function expectationsOf({ headers }: IncomingMessage): string[] {
  const members = (headers.expect ?? '').split(',').map((member) => member.trim().toLowerCase())
  return members.filter((member) => member !== '')
}

/** RFC 9110 §15.6.6: other major versions are not supported. */
function refusalOf(request: IncomingMessage): 400 | 505 | undefined {
  if (request.httpVersionMajor !== 1) return 505
  return isInvalidHead(request.rawHeaders, request.httpVersionMinor) || !normalizeTarget(request)
    ? 400
    : undefined
}
