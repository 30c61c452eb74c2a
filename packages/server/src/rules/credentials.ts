/** The users that may read a protected site, by name. */
export type Credentials = ReadonlyMap<string, Secret>

/** The password of a user, or its bcrypt hash. */
export type Secret = { readonly password: string } | { readonly hash: string }

/** `htpasswd` accepts costs up to 17, which take several seconds. */
const bcryptHash = /^\$2[aby]\$(?:0[4-9]|1[0-7])\$[./A-Za-z0-9]{53}$/
/** The other forms of `htpasswd` and crypt(3). */
const otherHash = /^(?:\$(?:apr1|1|2[a-z]?|5|6|7|y|argon2\w*|scrypt)\$|\{[A-Z0-9-]+\})/
// RFC 7617 §2 forbids control characters.
const control = /\p{Cc}/u

/**
 * Parses lines of `name:password` or `name:hash`. Empty lines and lines that begin with `#` are ignored.
 *
 * @returns the users and the problems. A problem never contains a password.
 */
export function parseCredentials(text: string): {
  readonly users: Credentials
  readonly problems: readonly string[]
} {
  const users = new Map<string, Secret>()
  const problems: string[] = []
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const [, name = '', secret = ''] = /^([^:]+):(.+)$/s.exec(line) ?? []
    const problem = problemOf(name, secret) ?? (users.has(name) ? `"${name}" occurs twice` : undefined)
    if (problem !== undefined) problems.push(`line ${index + 1}: ${problem}`)
    users.set(name, bcryptHash.test(secret) ? { hash: secret } : { password: secret })
  }
  if (users.size === 0 && problems.length === 0) problems.push('expected a line "name:password"')
  return { users, problems }
}

function problemOf(name: string, secret: string): string | undefined {
  if (name === '') return 'expected "name:password", or a line of htpasswd -B'
  if (control.test(name + secret)) return 'a control character is not allowed'
  if (bcryptHash.test(secret) || !otherHash.test(secret)) return undefined
  return 'only bcrypt hashes with a cost from 4 to 17 are supported. Write the line with htpasswd -nB name.'
}
