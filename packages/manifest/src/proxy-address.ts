/** The address of a target, without variables of a rule in its origin. */
export interface ProxyAddress {
  /** Such as `https://backend:8443`; `http://localhost` for a unix socket. */
  readonly origin: string
  /** The path of a unix socket; absent for TCP. */
  readonly socketPath?: string
  /** A path with variables, which begins with `/`; absent if the path of the request stays. */
  readonly path?: string
}

const form = /^(?:(https?:\/\/[^/?#@\\]+)|unix:(\/[^:]+?)(?=:\/|$):?)(\/[\x21-\x7E]*)?$/i

/** Returns whether the target of a rule is an address that a server can forward requests to. */
export function isProxyAddress(to: string): boolean {
  return /^(?:https?:|unix:)/i.test(to)
}

/** Parses an address; returns `undefined` if it is invalid. */
export function parseProxyAddress(text: string): ProxyAddress | undefined {
  const [, authority, socketPath, path] = form.exec(text) ?? []
  if (/[?#]/.test(path ?? '')) return undefined
  const ofPath = path === undefined ? {} : { path }
  if (socketPath !== undefined) return { origin: 'http://localhost', socketPath, ...ofPath }
  if (authority === undefined || !URL.canParse(authority)) return undefined
  return { origin: new URL(authority).origin, ...ofPath }
}

/**
 * Appends the path of a rule to an address from a variable or a flag, with one slash between. Without such a path, a path in
 * the address replaces the part of the request's path before `*`.
 */
export function completeProxyAddress(
  value: string,
  { from, path }: { readonly from: string; readonly path?: string | undefined },
): string {
  const { socketPath, path: own } = parseProxyAddress(value) ?? {}
  const end = path ?? (own !== undefined && from.endsWith('/*') ? '/:splat' : undefined)
  if (end === undefined) return value
  const start = socketPath !== undefined && own === undefined ? `${value}:` : value.replace(/\/$/, '')
  return start + end
}

/** Examples of addresses, for messages. */
export const proxyAddressForm =
  'an address such as http://backend:3000, https://backend/path or unix:/run/api.sock'

/** Returns the problem of an address, or `undefined`. */
export function proxyAddressProblem(to: string): string | undefined {
  return parseProxyAddress(to) === undefined ? `expected ${proxyAddressForm}` : undefined
}
