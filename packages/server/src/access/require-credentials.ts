import type { IncomingMessage, ServerResponse } from 'node:http'
import { findField } from '../protocol/request-head.ts'
import { parseRequestPath } from '../protocol/request-path.ts'
import { credentialsOf } from '../rules/basic-auth.ts'
import { sendAnswer, sendFailure } from '../send/send-answer.ts'
import { serviceUnavailable, unauthorized } from '../site/answers.ts'
import { isExceptedPath } from '../site/is-excepted-path.ts'
import { siteFor } from '../site/select-part.ts'
import { memoizeWeakly } from '../site/memoize-weakly.ts'
import type { BasicAuth, Site } from '../site/site.ts'
import type { SiteHolder } from '../site/site-holder.ts'
import type { RequestListener } from '../transport/transport.ts'
import { type CheckResult, createCredentialCheck } from './check-credentials.ts'
import { createPasswordThreads } from './password-threads.ts'

/** A listener that asks for credentials. */
export interface GuardedListener {
  readonly listener: RequestListener
  /** Returns whether a request for a protected site needed no credentials, because of its path. */
  readonly wasExcepted: (request: IncomingMessage) => boolean
  /** Ends the threads that compare passwords. */
  readonly close: () => Promise<void>
}

/**
 * Asks for credentials (RFC 7617) before any other handler, if the current site has the rule `basicAuth`.
 *
 * @param listenerOfExceptions - answers requests that need no credentials because of their path.
 * @param noteAccepted - called with each accepted value of `Authorization`.
 */
export function requireCredentials(
  listener: RequestListener,
  listenerOfExceptions: RequestListener,
  holder: SiteHolder,
  noteAccepted: (rule: BasicAuth, value: string) => void,
): GuardedListener {
  const threads = createPasswordThreads()
  const excepted = new WeakSet<IncomingMessage>()
  // A reload creates another rule, and so forgets accepted values.
  const checkOf = memoizeWeakly((rule: BasicAuth) => createCredentialCheck(credentialsOf(rule), threads))

  const guarded: RequestListener = (request, response) => {
    const whole = holder.current
    const target = request.url ?? ''
    const basicAuth = whole.basicAuth === undefined ? undefined : ruleFor(whole, target)
    if (basicAuth === undefined) {
      listener(request, response)
      return
    }
    if (isExcepted(basicAuth, target)) {
      excepted.add(request)
      listenerOfExceptions(request, response)
      return
    }
    const value = authorizationOf(request.rawHeaders)
    if (value === undefined) return sendAnswer(response, unauthorized)
    const result = checkOf(basicAuth)(value, () => !response.destroyed)
    if (result === true) {
      noteAccepted(basicAuth, value)
      listener(request, response)
    } else if (result === false) sendAnswer(response, unauthorized)
    else if (result === undefined) sendAnswer(response, serviceUnavailable)
    else void answerLater(result, request, response)
  }

  async function answerLater(
    result: Promise<CheckResult>,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    try {
      const later = await result
      if (response.destroyed) return
      // The rule may have changed. Otherwise the value is among the accepted ones now.
      if (later === true) guarded(request, response)
      else sendAnswer(response, later === undefined ? serviceUnavailable : unauthorized)
    } catch (error) {
      sendFailure(response, error)
    }
  }

  return { listener: guarded, wasExcepted: (request) => excepted.has(request), close: threads.close }
}

/** Returns the value of `Authorization`; `undefined` if it is missing or occurs twice. */
function authorizationOf(fields: readonly string[]): string | undefined {
  const at = findField(fields, 'authorization')
  return findField(fields, 'authorization', at + 1) === -1 ? fields[at] : undefined
}

/** An application may read another path than this server from an ambiguous one. One protected build is enough then. */
function ruleFor(whole: Site, target: string): BasicAuth | undefined {
  const isAmbiguous = typeof parseRequestPath(target) === 'string'
  return isAmbiguous ? whole.basicAuth : siteFor(whole, target).basicAuth
}

function isExcepted(rule: BasicAuth, target: string): boolean {
  if (rule.except.length === 0) return false
  const parsed = parseRequestPath(target)
  return typeof parsed !== 'string' && isExceptedPath(rule, parsed.path)
}
