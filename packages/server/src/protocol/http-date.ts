const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const time = String.raw`(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)`
const month = `(?<month>${months.join('|')})`

// RFC 9110 §5.6.7: IMF-fixdate, and the two obsolete forms that recipients must accept.
const forms = [
  new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\\d\\d) ${month} (?<year>\\d{4}) ${time} GMT$`),
  new RegExp(
    `^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\\d\\d)-${month}-(?<year>\\d\\d) ${time} GMT$`,
  ),
  new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})$`),
]

/**
 * Parses an HTTP-date in any of its three forms. Returns milliseconds since the epoch, or `undefined` for
 * invalid dates, whose fields are ignored. `now` resolves the two-digit year of RFC 850.
 */
export function parseHttpDate(text: string, now: number = Date.now()): number | undefined {
  // The longest form is `Wednesday, 01-Jan-26 00:00:00 GMT`.
  if (text.length > 33) return undefined
  for (const form of forms) {
    const parts = form.exec(text)?.groups
    if (parts !== undefined) return toMilliseconds(parts, now)
  }
  return undefined
}

let lastFormatted = Number.NaN
let lastText = ''

/** Formats a time in milliseconds as IMF-fixdate. Fractions of a second are cut off. */
export function formatHttpDate(milliseconds: number): string {
  // Most files of a build have the same time and share one string.
  if (milliseconds !== lastFormatted) {
    lastText = new Date(milliseconds).toUTCString()
    lastFormatted = milliseconds
  }
  return lastText
}

function toMilliseconds(parts: Partial<Record<string, string>>, now: number): number | undefined {
  const day = Number(parts['day'])
  const monthIndex = months.indexOf(parts['month'] ?? '')
  const [hour, minute, second] = [Number(parts['hour']), Number(parts['minute']), Number(parts['second'])]
  // 60 is a leap second (RFC 9110 §5.6.7).
  if (hour > 23 || minute > 59 || second > 60) return undefined
  const year = parts['year']?.length === 2 ? fullYear(Number(parts['year']), now) : Number(parts['year'])
  const date = new Date(0)
  date.setUTCFullYear(year, monthIndex, day)
  // `Date` would convert an invalid day to one of the next month.
  if (date.getUTCDate() !== day || date.getUTCMonth() !== monthIndex) return undefined
  return date.setUTCHours(hour, minute, second)
}

/** RFC 9110 §5.6.7: a two-digit year that appears to be over 50 years in the future is in the past. */
function fullYear(digits: number, now: number): number {
  const thisYear = new Date(now).getUTCFullYear()
  const year = thisYear - (thisYear % 100) + digits
  return year > thisYear + 50 ? year - 100 : year
}
