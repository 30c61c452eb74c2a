/**
 * Returns whether a URL's host is certainly this machine. A name such as `app.localhost` may be resolved by a name server.
 *
 * @param hostname - as in `URL.hostname`: in lower case, with brackets around an IPv6 address.
 */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}
