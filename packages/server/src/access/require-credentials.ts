import type { IncomingMessage, ServerResponse } from 'node:http'
import { isNavigation } from '../protocol/is-navigation.ts'
import type { RequestFields } from '../protocol/request-fields.ts'
import { findField } from '../protocol/request-head.ts'
import { parseRequestPath } from '../protocol/request-path.ts'
import { credentialsOf } from '../rules/basic-auth.ts'
import { createRequestFieldsReader } from '../send/read-request-fields.ts'
import { sendAnswer, sendFailure } from '../send/send-answer.ts'
import { serviceUnavailable, unauthorized } from '../site/answers.ts'
import { chooseFallback, type UnknownPathFallback } from '../site/decide.ts'
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
  /** Ends the threads that compare passwords. */
  readonly close: () => Promise<void>
}

/**
 * Asks for credentials (RFC 7617) before any other handler, if the current site has the rule `basicAuth`.
 *
 * @param fallbackOf - returns the fallback for navigations.
 */
export function requireCredentials(
  listener: RequestListener,
  holder: SiteHolder,
  fallbackOf: (site: Site) => UnknownPathFallback,
): GuardedListener {
  const threads = createPasswordThreads()
  const readFields = createRequestFieldsReader()
  // A reload creates another rule, and so forgets accepted values.
  const checkOf = memoizeWeakly((rule: BasicAuth) => createCredentialCheck(credentialsOf(rule), threads))

  const guarded: RequestListener = (request, response) => {
    const site = siteFor(holder.current, request.url ?? '')
    const { basicAuth } = site
    if (basicAuth === undefined || isExcepted(site, basicAuth, readFields(request))) {
      listener(request, response)
      return
    }
    const value = authorizationOf(request.rawHeaders)
    const result = value === undefined ? false : checkOf(basicAuth)(value, () => !response.destroyed)
    if (result === true) listener(request, response)
    else if (result === false) sendAnswer(response, unauthorized)
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

  /** A page that answers for an unknown path is protected. */
  function isExcepted(site: Site, rule: BasicAuth, fields: RequestFields): boolean {
    const parsed = rule.except.length === 0 ? 'unclean' : parseRequestPath(fields.target)
    if (typeof parsed === 'string' || !isExceptedPath(rule, parsed.path)) return false
    if (site.table.has(parsed.path) || !isNavigation(fields, parsed.path)) return true
    return chooseFallback(site, { ...parsed, fallback: fallbackOf(site) })?.isForNavigations !== true
  }

  return { listener: guarded, close: threads.close }
}

/** Returns the value of `Authorization`; `undefined` if it is missing or occurs twice. */
function authorizationOf(fields: readonly string[]): string | undefined {
  const at = findField(fields, 'authorization')
  return findField(fields, 'authorization', at + 1) === -1 ? fields[at] : undefined
}
