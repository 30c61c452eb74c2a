const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const weightForm = /^[qQ]=(0|0\.[0-9]{0,3}|1|1\.0{0,3})$/

/** RFC 9110 §12.5.3: the coding that a field wants most; among equals the earliest that there is. */
export function negotiate(field: string | undefined, available: readonly string[]): string | undefined {
  const weights = new Map<string, number>()
  for (const member of (field ?? '').split(',')) {
    const [name = '', parameter, ...others] = member.split(';').map((part) => part.trim())
    const weight = parameter === undefined ? '1' : weightForm.exec(parameter)?.[1]
    if (!token.test(name) || weight === undefined || others.length > 0) continue
    const lowerCase = name.toLowerCase()
    const coding = lowerCase === 'x-gzip' ? 'gzip' : lowerCase
    weights.set(coding, Math.max(weights.get(coding) ?? 0, Number(weight)))
  }
  const weigh = (coding: string): number => {
    // Identity is acceptable until it is refused, and comes after everything that is named.
    const unnamed = coding === 'identity' ? 0.0001 : 0
    return weights.get(coding) ?? weights.get('*') ?? unnamed
  }
  let best: string | undefined
  for (const coding of available) {
    if (weigh(coding) > 0 && (best === undefined || weigh(coding) > weigh(best))) best = coding
  }
  return best
}

/** RFC 9110 §8.8.3: the entity tags of a list, up to what is none. */
export function tagsIn(list: string): string[] {
  const tags: string[] = []
  let rest = list
  for (;;) {
    rest = rest.replace(/^[\s,]+/, '')
    const prefix = rest.startsWith('W/') ? 'W/' : ''
    const end = rest.indexOf('"', prefix.length + 1)
    const tag = rest.slice(0, end + 1)
    if (rest[prefix.length] !== '"' || end === -1 || /[\s\u007F]/.test(tag)) return tags
    tags.push(tag)
    rest = rest.slice(end + 1).trimStart()
    if (rest !== '' && !rest.startsWith(',')) return tags.slice(0, -1)
  }
}
