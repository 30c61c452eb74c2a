/** A page's own origin, whichever it will be. */
export const ownOrigin = 'https://page.invalid'

const hostSource = /^(?:([a-z][a-z\d+.-]*):\/\/)?(\*|(?:\*\.)?[\w.-]+)(?::(\d+|\*))?(\/.*)?$/i

/** Whether one of these sources allows a URL (CSP Level 3 §6.7.2.8), as far as a build can know. */
export function isAllowed(url: URL, sources: readonly string[]): boolean {
  return sources.some((source) => {
    if (source === "'self'") return url.origin === ownOrigin
    if (source === '*') return /^(?:https?|wss?):$/.test(url.protocol)
    if (source.endsWith(':')) return isScheme(source.slice(0, -1), url)
    const [, scheme, host = '', port, path] = hostSource.exec(source) ?? []
    if (host === '' || !isScheme(scheme ?? 'http', url)) return false
    const isHost =
      host === '*' || (host.startsWith('*.') ? url.hostname.endsWith(host.slice(1)) : url.hostname === host)
    const isPort = port === '*' || (port ?? '') === url.port || port === defaultPorts[url.protocol]
    return isHost && isPort && isPath(path, url.pathname)
  })
}

const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/** `http` stands for `https` as well. */
function isScheme(scheme: string, { protocol }: URL): boolean {
  const name = scheme.toLowerCase()
  return protocol === `${name}:` || protocol === `${name}s:`
}

function isPath(path: string | undefined, found: string): boolean {
  if (path === undefined || path === '/') return true
  return path.endsWith('/') ? found.startsWith(path) : found === path
}
