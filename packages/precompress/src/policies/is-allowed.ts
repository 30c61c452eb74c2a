/** A placeholder for the page's own origin. */
export const ownOrigin = 'https://page.invalid'

const hostSource = /^(?:([a-z][a-z\d+.-]*):\/\/)?(\*|(?:\*\.)?[\w.-]+)(?::(\d+|\*))?(\/.*)?$/i

/** Returns whether a source allows a URL (CSP Level 3 §6.7.2.8), as far as a build can know. */
export function isAllowed(url: URL, sources: readonly string[]): boolean {
  return sources.some((source) => {
    if (source === "'self'") return url.origin === ownOrigin
    if (source === '*') return /^(?:https?|wss?):$/.test(url.protocol)
    if (source.endsWith(':')) return isScheme(source.slice(0, -1), url)
    const [, scheme, host = '', port, path] = hostSource.exec(source) ?? []
    if (host === '' || !isScheme(scheme ?? 'http', url)) return false
    return isHost(host.toLowerCase(), url.hostname) && isPort(port, url) && isPath(path, url.pathname)
  })
}

function isHost(host: string, found: string): boolean {
  if (host === '*') return true
  return host.startsWith('*.') ? found.endsWith(host.slice(1)) : found === host
}

/** Port 80 also allows 443, as `http` allows `https`. */
function isPort(port: string | undefined, url: URL): boolean {
  const usual = defaultPorts[url.protocol]
  const found = url.port === '' ? usual : url.port
  return port === '*' || found === (port ?? usual) || (port === '80' && found === '443')
}

const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/** `http` also allows `https`. */
function isScheme(scheme: string, { protocol }: URL): boolean {
  const name = scheme.toLowerCase()
  return protocol === `${name}:` || protocol === `${name}s:`
}

function isPath(path: string | undefined, found: string): boolean {
  if (path === undefined || path === '/') return true
  return path.endsWith('/') ? found.startsWith(path) : found === path
}
