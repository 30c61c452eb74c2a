import { findNearestName } from '@serve-dist/foundation/text/find-nearest-name'
import { directiveTakes, type PolicyDirective } from './policy-directives.ts'

// The grammars of sources (CSP Level 3 §2.3.1), sandboxes (WHATWG HTML §7.1.5) and Trusted Types (§4).
const schemeForm = /^[a-z][a-z\d+.-]*:$/i
const hostForm =
  /^(?:([a-z][a-z\d+.-]*):\/\/)?(?:\*|(?:\*\.)?[a-z\d-]+(?:\.[a-z\d-]+)*\.?)(?::(?:\d+|\*))?(\/[^?#]*)?$/i
const hashForm = /^'sha(256|384|512)-([\w+/-]+={0,2})'$/
const hashLengths: Readonly<Record<string, number>> = { 256: 43, 384: 64, 512: 86 }
const tokenForm = /^[\w-]+$/

/** Keywords for code and the directives in which they have an effect. */
const codeKeywords: Readonly<Record<string, RegExp>> = {
  "'unsafe-inline'": /./,
  "'unsafe-hashes'": /./,
  "'report-sample'": /./,
  "'unsafe-eval'": /^(?:default|script)-src$/,
  "'wasm-unsafe-eval'": /^(?:default|script)-src$/,
  "'trusted-types-eval'": /^(?:default|script)-src$/,
  "'inline-speculation-rules'": /^(?:default-src|script-src(?:-elem)?)$/,
}

const sandboxPermissions: readonly string[] = [
  'allow-downloads',
  'allow-forms',
  'allow-modals',
  'allow-orientation-lock',
  'allow-pointer-lock',
  'allow-popups',
  'allow-popups-to-escape-sandbox',
  'allow-presentation',
  'allow-same-origin',
  'allow-scripts',
  'allow-storage-access-by-user-activation',
  'allow-top-navigation',
  'allow-top-navigation-by-user-activation',
  'allow-top-navigation-to-custom-protocols',
]

/** Returns the problem of one value of a directive with its fix, or `undefined`. */
export function policySourceProblem(directive: PolicyDirective, source: string): string | undefined {
  if (source === '') return 'expected a source, found ""'
  if (/[;,\s]/.test(source)) {
    return 'a source cannot contain ";", "," or spaces. Add each source to the list separately, and write "%3B" and "%2C" in paths.'
  }
  if (/^\$|\$\{/.test(source)) {
    return 'a source cannot contain variables. Write { env: "NAME" } for the origin of an environment value.'
  }
  if (!/^[\x21-\x7E]+$/.test(source)) {
    return 'a source must be ASCII. Write hosts in Punycode (new URL(…).host) and percent-encode paths.'
  }
  switch (directiveTakes(directive)) {
    case 'code':
    case 'places':
      return placeProblem(directive, source)
    case 'permissions':
      return knownWord(source, sandboxPermissions)
    case 'nothing':
      return `${directive} has no sources. Write [].`
    case 'sinks':
      return source === "'script'" ? undefined : `${directive} accepts only "'script'"`
    case 'policies':
      return /^(?:[\w#=/@.%-]+|\*|'none'|'allow-duplicates')$/.test(source)
        ? undefined
        : 'expected the name of a policy, "*", "\'none\'" or "\'allow-duplicates\'"'
    case 'endpoint':
      return tokenForm.test(source)
        ? undefined
        : 'expected the name of an endpoint, as in the field Reporting-Endpoints'
    case 'addresses':
      return /^(?:https?:\/\/[^/]|\/)/i.test(source)
        ? undefined
        : 'expected a URL, or a path that starts with "/"'
    default:
      throw new TypeError(`unknown directive: ${directive}`)
  }
}

function placeProblem(directive: PolicyDirective, source: string): string | undefined {
  const takesCode = directiveTakes(directive) === 'code'
  if (source.startsWith("'")) return keywordProblem(directive, source, takesCode)
  const bare = source.toLowerCase()
  if (isKeyword(`'${bare}'`) || /^sha(?:256|384|512)-/.test(bare)) {
    return `a keyword needs single quotes: "'${source}'"`
  }
  if (bare.startsWith('nonce-')) return nonceProblem
  if (['blob', 'data', 'filesystem', 'http', 'https', 'mediastream', 'ws', 'wss'].includes(bare)) {
    return `browsers treat ${source} as a host. Write "${source}:".`
  }
  if (schemeForm.test(source)) return undefined
  if (source.startsWith('//')) return `add the scheme, as in "https:${source}", or write only the host`
  if (source.startsWith('/') || source.startsWith('.')) return 'a path is not a source. Write "\'self\'".'
  if (/\[/.test(source)) return 'browsers do not match IPv6 addresses. Write a host name.'
  if (/[?#]/.test(source)) return 'a source cannot have a query or a fragment. Remove them.'
  if (hostForm.test(source)) return undefined
  if (source.includes('_')) return 'browsers ignore a host with "_" in its name'
  return source.includes('*')
    ? 'a star can only replace the first labels of a host, as in "https://*.example.org", or a port'
    : 'expected a source such as "\'self\'", "https://cdn.example.org", "*.example.org" or "data:"'
}

const nonceProblem =
  'nonces need a new page for each request. Remove it: serve-dist adds hashes for the inline scripts and styles of the build.'

function isKeyword(text: string): boolean {
  return ["'self'", "'none'", "'strict-dynamic'", ...Object.keys(codeKeywords)].includes(text)
}

function keywordProblem(directive: PolicyDirective, source: string, takesCode: boolean): string | undefined {
  const keyword = source.toLowerCase()
  if (keyword === "'self'" || keyword === "'none'") {
    return source === keyword ? undefined : `write ${keyword} in lower case`
  }
  if (keyword.startsWith("'nonce-")) return nonceProblem
  if (keyword === "'strict-dynamic'") {
    return "with 'strict-dynamic', browsers ignore 'self' and load no script file of the build. List the origins of other scripts instead."
  }
  if (/^'sha\d+-/.test(keyword) && !source.startsWith("'sha")) return "write 'sha256-…' in lower case"
  const [, algorithm, digits] = hashForm.exec(source) ?? []
  if (algorithm !== undefined && digits !== undefined) {
    if (!takesCode) return `a hash has no effect in ${directive}`
    const isWhole = digits.replace(/=+$/, '').length === hashLengths[algorithm]
    return isWhole
      ? undefined
      : `expected the whole hash: ${hashLengths[algorithm]} characters of base64 and "="`
  }
  const where = codeKeywords[source]
  if (where !== undefined) {
    return takesCode && where.test(directive) ? undefined : `${source} has no effect in ${directive}`
  }
  return knownWord(source, ["'self'", "'none'", ...Object.keys(codeKeywords), "'sha256-…'"])
}

function knownWord(word: string, words: readonly string[]): string | undefined {
  if (words.includes(word)) return undefined
  const nearest = findNearestName(word, words)
  return nearest === undefined
    ? `expected one of ${words.join(', ')}, found ${word}`
    : `unknown keyword ${word}. Did you mean ${nearest}?`
}
