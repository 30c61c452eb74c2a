import { type RedirectRule, redirectStatuses, s } from '@serve-dist/manifest'
import type { ParsedFile } from './parse-headers-file.ts'

/**
 * Parses a `_redirects` file in the format of Netlify and Cloudflare Pages: one rule per line, `from to
 * [name=value …] to [status][!]`. Status 200 with an address proxies. Conditions on country, language and role are not
 * supported. Such rules are skipped and reported.
 */
export function parseRedirectsFile(text: string): ParsedFile<RedirectRule> {
  const rules: RedirectRule[] = []
  const problems: string[] = []
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const words = line
      .replace(/(?:^|\s)#.*$/, '')
      .trim()
      .split(/\s+/)
    if (words[0] === '') continue
    const read = readRule(words)
    if (typeof read === 'string') problems.push(`_redirects:${index + 1}: ${read}`)
    else rules.push(read)
  }
  return { rules, problems }
}

/** Returns the rule, or a problem. */
function readRule([from = '', ...rest]: readonly string[]): RedirectRule | string {
  const to = rest.find((word) => /^(?:\/|https?:|unix:)/.test(word))
  if (to === undefined) return `"${from}" has no target. Write "from to [status]".`
  const place = rest.indexOf(to)
  const parameters = rest.slice(0, place)
  const unclear = parameters.find((word) => !/^[^=&]+=[^&]*$/.test(word))
  if (unclear !== undefined) return `the condition ${unclear} is not supported. Remove the rule.`
  const [statusWord = '301', ...conditions] = rest.slice(place + 1)
  const [, digits, mark] = /^(\d{3})(!?)$/.exec(statusWord) ?? []
  const status = redirectStatuses.find((known) => String(known) === digits)
  if (digits === undefined) return `the condition ${statusWord} is not supported. Remove the rule.`
  if (status === undefined)
    return `status ${digits} is not supported. Use one of ${redirectStatuses.join(', ')}.`
  if (conditions.length > 0) return `the condition ${conditions.join(' ')} is not supported. Remove the rule.`
  const query = Object.fromEntries(new URLSearchParams(parameters.join('&')))
  return checked({
    from,
    ...(parameters.length > 0 && { query }),
    to,
    status,
    force: mark === '!',
  })
}

/** Applies the checks for rules of the configuration. */
function checked(rule: RedirectRule): RedirectRule | string {
  const [problem] = s.problemsOf(s.redirectRule, rule)
  return problem ?? rule
}
