const source = /^\/(?!\/)[^\s?#\p{Cc}\p{Cs}]*$/u
const target = /^(?:\/(?![/\\])|https?:\/\/)[\x21-\x7E]*$/
const variable = /:([A-Za-z]\w*)/g
/** Somebody may mean all of it as the name, so that the rule would match nothing that was meant. */
const doubtfulVariable = /:[A-Za-z]\w*-\w[\w-]*/
/** Only at the beginning of a segment or of a value: `/wiki/File:Logo` is a path like any other. */
const wholeVariable = /(?<=[/=]):([A-Za-z]\w*)/g
/** In an authority, where no name of the operator's stands behind it: `:lang.example.com` is one of theirs. */
const hostVariable = /:[A-Za-z]\w*(?![\w.])/g

/** Why a redirect cannot begin at this path, or `undefined` when it can. */
export function redirectSourceProblem(from: string): string | undefined {
  if (!source.test(from)) return 'expected a path such as "/old/*"'
  if (/\*./.test(from) || /[^/]\*/.test(from))
    return 'expected a path with "*" only as its last segment, as in "/old/*"'
  const doubtful = doubtfulVariable.exec(from)?.[0]
  if (doubtful !== undefined) return `"${doubtful}" is no variable: names are letters, digits and "_"`
  const names = variablesOf(from)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  return twice === undefined ? undefined : `"${twice}" is there twice`
}

/** Why a redirect from that path cannot lead here, or `undefined` when it can. */
export function redirectTargetProblem(to: string, from: string): string | undefined {
  if (!target.test(to)) return 'expected a path that begins with one "/", or an http(s) URL'
  const known = new Set(variablesOf(from))
  const unknown = namesIn(to, wholeVariable).find((name) => !known.has(name))
  if (unknown !== undefined) return `"${unknown}" stands for nothing in "${from}"`
  const [, authority = ''] = /^https?:\/\/([^/?#]+)/.exec(to) ?? []
  const chosen = namesIn(authority, hostVariable).find((name) => known.has(name))
  return chosen === undefined ? undefined : `"${chosen}" would let a request choose another host`
}

function variablesOf(from: string): string[] {
  return [...namesIn(from, variable), ...(from.endsWith('*') ? [':splat'] : [])]
}

/** With their colons. */
function namesIn(text: string, form: RegExp): string[] {
  return [...text.matchAll(form)].map(([whole]) => whole)
}
