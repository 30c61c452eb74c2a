import { OperatorError } from '@serve-dist/manifest'

/**
 * Parses the address of a site. Messages omit a password.
 *
 * @throws OperatorError
 */
export function readAddress(text: string): URL {
  const address = URL.canParse(text) ? new URL(text) : undefined
  const extra = address && address.username + address.password + address.search + address.hash
  if (address !== undefined && extra === '') return address
  throw new OperatorError(
    'SD_OPTION_INVALID',
    `${text.replace(/(?<=:).*@/s, '…@')}: expected a URL without query, fragment and password, such as https://example.org/app/`,
  )
}
