import type { SiteResponse } from './site-client.ts'

/** Somebody on the way does not let us ask: that says nothing about the build. */
export class CheckStopped extends Error {
  override readonly name = 'CheckStopped'
}

/** What a page is called that asks who somebody is. */
const signIn = /log-?in|sign-?in|oauth|\bauth|\bsso\b|saml/i

/**
 * Ends the check at an answer that is not the site's own.
 *
 * @throws CheckStopped with one sentence: what it is, and what to do.
 */
export function stopIfIntercepted(
  { status, fields }: Pick<SiteResponse, 'status' | 'fields'>,
  url: URL,
): void {
  if (status === 401) throwCheckStopped(url, "answers 401; pass credentials with -H 'Authorization: …'")
  if (status === 403)
    throwCheckStopped(url, 'answers 403; let this client through, or pass with -H what it has to show')
  if (status === 429) throwCheckStopped(url, 'answers 429; let this client ask more often')
  const location = fields.location ?? ''
  if (status < 300 || status >= 400 || !URL.canParse(location, url.href)) return
  const target = new URL(location, url)
  if (target.origin !== url.origin && target.pathname === url.pathname)
    throwCheckStopped(url, `redirects to another address; check ${target.origin} instead`)
  if (target.origin !== url.origin || signIn.test(target.pathname))
    throwCheckStopped(
      url,
      `redirects to ${target.origin}${target.pathname}; sign in, and pass what shows it with -H 'Cookie: …'`,
    )
}

/** Ends the check where not even one page comes. */
export function stopOnServerError(url: URL, { status }: Pick<SiteResponse, 'status'>): void {
  if (status >= 500)
    throwCheckStopped(url, `answers ${status}; start the site, or mend what stands in front of it`)
}

/** Ends the check of a site that answers so slowly, or in drips, that it would never end. */
export function stopAtTimeLimit(
  url: URL,
  { timeLimit, asked, planned }: Readonly<Record<'timeLimit' | 'asked' | 'planned', number>>,
): never {
  const seconds = Math.ceil(timeLimit / 1000)
  throwCheckStopped(
    url,
    `answered ${asked} of up to ${planned} requests in ${seconds} s, which is too slow to check; look at its load and the way to it, or leave out --all`,
  )
}

/** Ends the check where nobody answers. */
export function stopAsUnreachable(url: URL, error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const isUntrusted = /CERT|SIGNATURE|ISSUER|ALTNAME|SELF_SIGNED/.test(code)
  throwCheckStopped(
    url,
    isUntrusted
      ? `shows a certificate that is not trusted (${reason}); --insecure takes any`
      : `does not answer (${reason === '' ? code : reason}); start the site, or connect elsewhere with --resolve`,
  )
}

function throwCheckStopped(url: URL, why: string): never {
  throw new CheckStopped(`${url.href} ${why}.`)
}
