import { fieldPairs } from '../../src/protocol/field-pairs.ts'
import { decide, decideNotFound, fallbackFor } from '../../src/site/decide.ts'
import type { Answer, Site } from '../../src/site/site.ts'
import type { RawResponse } from './parse-response.ts'
import { rawRequest } from './raw-request.ts'
import { createRequestFields } from './create-request-fields.ts'

/** Fields whose values depend on the host. */
const ownFields = new Set([
  'accept-ranges',
  'connection',
  'content-length',
  'date',
  'etag',
  'keep-alive',
  'last-modified',
  'server',
  'transfer-encoding',
])

const asked = [
  {},
  { acceptEncoding: 'gzip' },
  { acceptEncoding: 'gzip, deflate, br' },
  { acceptEncoding: 'gzip, deflate, br, zstd' },
  { secFetchMode: 'navigate' },
  { secFetchMode: 'cors' },
  { accept: 'image/avif, */*;q=0.8' },
  { accept: '*/*, text/html;q=0' },
  { accept: 'image/avif, */*;q=0' },
] as const

/** Returns the differences between a host's and serve-dist's responses, each as `<path> <difference>`. */
export async function compareWithServeDist(
  site: Site,
  port: number,
  targets: readonly string[],
): Promise<Set<string>> {
  const wrong = new Set<string>()
  const fallback = fallbackFor(site, 'standalone', undefined)
  for (const target of targets) {
    for (const more of asked) {
      const request = createRequestFields({ target, ...more })
      const ours = decide(site, request, fallback) ?? decideNotFound(site, request, fallback)
      const fields = {
        ...('acceptEncoding' in more && { 'Accept-Encoding': more.acceptEncoding }),
        ...('accept' in more && { Accept: more.accept }),
        ...('secFetchMode' in more && { 'Sec-Fetch-Mode': more.secFetchMode }),
      }
      const theirs = await rawRequest(port, { target, fields })
      for (const what of differences(theirs, ours)) wrong.add(`${target} ${what}`)
    }
  }
  return wrong
}

function differences(theirs: RawResponse, { status, fields, content }: Answer): string[] {
  const expected = new Map(Array.from(fieldPairs({ fields }), ([name, value]) => [name.toLowerCase(), value]))
  const found = new Map<string, string>()
  for (const [name, value] of theirs.fields) {
    const key = name.toLowerCase()
    found.set(key, found.has(key) ? `${found.get(key)}, ${value}` : value)
  }
  const names = new Set([...expected.keys(), ...found.keys()])
  // A redirect has no body, so its type does not matter.
  const isRedirect = status > 300 && status < 309 && status !== 304
  const ignored = isRedirect ? new Set(['content-type', 'x-content-type-options']) : new Set<string>()
  const lines = [...names]
    .filter((name) => !ownFields.has(name) && !ignored.has(name))
    .filter((name) => normalized(name, found.get(name)) !== normalized(name, expected.get(name)))
    .map((name) => `${name}: ${found.get(name)}, not ${expected.get(name)}`)
  const isOther = content.kind === 'memory' && status === 200 && !theirs.body.equals(content.bytes)
  return [
    ...(theirs.status === status ? [] : [`${theirs.status}, not ${status}`]),
    ...lines,
    ...(isOther ? ['other bytes'] : []),
  ]
}

/** Sorts the members of a list, and removes duplicates. */
function normalized(name: string, value: string | undefined): string | undefined {
  return name === 'vary' ? [...new Set(value?.split(/ *, */))].toSorted().join() : value
}
