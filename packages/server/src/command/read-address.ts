import { OperatorError } from '@serve-dist/manifest'
import { isLoopbackHost } from '../protocol/is-loopback-host.ts'

/**
 * Parses the address of a site. Messages omit a password.
 *
 * @throws OperatorError
 */
export function readAddress(text: string): URL {
  const url = urlOfHost(text)
  if (url !== undefined) throw new OperatorError('SD_OPTION_INVALID', `${text}: expected a URL. Write ${url}`)
  const address = URL.canParse(text) ? new URL(text) : undefined
  const extra = address && address.username + address.password + address.search + address.hash
  if (address !== undefined && extra === '') return address
  throw new OperatorError(
    'SD_OPTION_INVALID',
    `${text.replace(/(?<=:).*@/s, '…@')}: expected a URL without query, fragment and password, such as https://example.org/app/`,
  )
}

/** Returns the URL of an address without a scheme, such as `example.org` and `localhost:4173`. */
export function urlOfHost(text: string): string | undefined {
  const [, hostname] = /^(localhost|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:\/|$)/.exec(text) ?? []
  if (hostname === undefined) return undefined
  return `${isLoopbackHost(hostname) ? 'http' : 'https'}://${text}`
}
