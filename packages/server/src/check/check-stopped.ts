import type { SiteResponse } from './site-client.ts'

/** A proxy blocks the requests, so the check says nothing about the build. */
export class CheckStopped extends Error {
  override readonly name = 'CheckStopped'
}

const signIn = /log-?in|sign-?in|oauth|\bauth|\bsso\b|saml/i

/**
 * Stops the check if a proxy answered instead of the site.
 *
 * @throws CheckStopped with the cause and the fix in one sentence.
 */
export function stopIfIntercepted(
  { status, fields }: Pick<SiteResponse, 'status' | 'fields'>,
  url: URL,
): void {
  if (status === 401) throwCheckStopped(url, "answers 401. Pass credentials with -H 'Authorization: …'")
  if (status === 403) throwCheckStopped(url, 'answers 403. Allow this client, or pass credentials with -H')
  if (status === 429) throwCheckStopped(url, 'answers 429. Raise the rate limit for this client')
  const { location } = fields
  // A 304 has no `Location`.
  if (status < 300 || status >= 400 || location === undefined || !URL.canParse(location, url.href)) return
  const target = new URL(location, url)
  if (target.origin !== url.origin && target.pathname === url.pathname)
    throwCheckStopped(url, `redirects to another address. Check ${target.origin} instead`)
  if (target.origin !== url.origin || signIn.test(target.pathname))
    throwCheckStopped(
      url,
      `redirects to ${target.origin}${target.pathname}. Sign in, and pass the session with -H 'Cookie: …'`,
    )
}

/** Stops the check if the first page gets a server error. */
export function stopOnServerError(url: URL, { status }: Pick<SiteResponse, 'status'>): void {
  if (status >= 500) throwCheckStopped(url, `answers ${status}. Start the site, or repair its proxy`)
}

/** Stops the check of a site that is too slow. */
export function stopAtTimeLimit(
  url: URL,
  { timeLimit, asked, planned }: Readonly<Record<'timeLimit' | 'asked' | 'planned', number>>,
): never {
  const seconds = Math.ceil(timeLimit / 1000)
  throwCheckStopped(
    url,
    `answered ${asked} of up to ${planned} requests in ${seconds} s, which is too slow. Reduce its load, check the network, or omit --all`,
  )
}

/** Stops the check if the site does not answer. */
export function stopAsUnreachable(url: URL, error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const isUntrusted = /CERT|SIGNATURE|ISSUER|ALTNAME|SELF_SIGNED/.test(code)
  if (code === 'EPROTO')
    throwCheckStopped(url, `does not speak TLS. Write ${url.href.replace(/^https/, 'http')}`)
  throwCheckStopped(
    url,
    isUntrusted
      ? `shows a certificate that is not trusted (${reason}). To accept any certificate, pass --insecure`
      : `does not answer (${reason === '' ? code : reason}). Start the site, or connect to another address with --resolve`,
  )
}

function throwCheckStopped(url: URL, why: string): never {
  throw new CheckStopped(`${url.href} ${why}.`)
}
