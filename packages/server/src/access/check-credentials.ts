import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Credentials } from '../rules/credentials.ts'
import type { PasswordThreads } from './password-threads.ts'

/** `undefined`: too many passwords wait for their comparison. */
export type CheckResult = boolean | undefined

/**
 * Checks a value of `Authorization`. The result is a promise only if a hash has to be computed.
 *
 * @param isWanted - returns whether the client still waits.
 */
export type CheckCredentials = (value: string, isWanted: () => boolean) => CheckResult | Promise<CheckResult>

const mostAccepted = 1000
// RFC 9110 §11.4: the scheme has no case.
const basicForm = /^basic +([\w+/-]+={0,2})$/i
// RFC 7617 §2 forbids control characters.
const control = /\p{Cc}/u

/** Creates a check for these users. It remembers accepted values, as keyed digests. */
export function createCredentialCheck(users: Credentials, threads: PasswordThreads): CheckCredentials {
  const key = randomBytes(32)
  const digestOf = (text: string): Buffer => createHmac('sha256', key).update(text).digest()
  const accepted = new Set<string>()
  /** Clients send several requests before the first one is accepted. */
  const running = new Map<string, { wanted: (() => boolean)[]; result: Promise<CheckResult> }>()
  // An unknown name takes as long as a known one.
  const standIn = [...users.values()].find((secret) => 'hash' in secret) ?? { password: '' }

  function accept(id: string): true {
    for (const oldest of accepted) {
      if (accepted.size < mostAccepted) break
      accepted.delete(oldest)
    }
    accepted.add(id)
    return true
  }

  return (value, isWanted) => {
    const id = digestOf(value).toString('base64')
    if (accepted.has(id)) return true
    const same = running.get(id)
    if (same !== undefined) {
      same.wanted.push(isWanted)
      return same.result
    }
    const given = parse(value)
    if (given === undefined) return false
    const known = users.get(given.name)
    const secret = known ?? standIn
    if ('password' in secret) {
      const isEqual = timingSafeEqual(digestOf(given.password), digestOf(secret.password))
      return isEqual && known !== undefined && accept(id)
    }
    const wanted = [isWanted]
    const result = threads
      .compare({ password: given.password, hash: secret.hash }, () => wanted.some((each) => each()))
      .then((isEqual) => (isEqual === true ? known !== undefined && accept(id) : isEqual))
      .finally(() => running.delete(id))
    running.set(id, { wanted, result })
    return result
  }
}

/** Parses the value of `Authorization` (RFC 7617 §2, §2.1). */
function parse(value: string): { readonly name: string; readonly password: string } | undefined {
  const text = Buffer.from(basicForm.exec(value)?.[1] ?? '', 'base64').toString()
  const colon = text.indexOf(':')
  if (colon < 1 || control.test(text)) return undefined
  return { name: text.slice(0, colon), password: text.slice(colon + 1) }
}
