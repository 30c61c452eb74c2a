import { loadSite } from '@serve-dist/server'
import { createFetchHandler, type FetchHandler } from '@serve-dist/server/fetch'

/** An answer that is the same for everybody. */
export interface ConstantAnswer {
  /** Names and values in turn. */
  readonly ok: string[]
  readonly notModified: string[]
  readonly body: Uint8Array<ArrayBuffer>
}

/**
 * Every path of a site with the one representation that all of the workload's clients ask for and our
 * very fields: for servers that do not negotiate.
 */
export async function readConstantAnswers(
  directory: string,
  accept: readonly string[],
): Promise<Map<string, ConstantAnswer>> {
  const site = await loadSite(directory, { memoryBudget: Number.MAX_SAFE_INTEGER })
  const handle = createFetchHandler(site)
  const answers = new Map<string, ConstantAnswer>()
  for (const [path, entry] of site.table) {
    if (entry.kind === 'resource') answers.set(path, await answerOf(handle, path, accept))
  }
  return answers
}

/** The fields of an answer as `Headers` takes them. */
export function pairsOf(fields: readonly string[]): [string, string][] {
  const pairs: [string, string][] = []
  for (let index = 0; index < fields.length; index += 2) {
    pairs.push([fields[index] ?? '', fields[index + 1] ?? ''])
  }
  return pairs
}

async function answerOf(
  handle: FetchHandler,
  path: string,
  accept: readonly string[],
): Promise<ConstantAnswer> {
  const ask = async (fields: Record<string, string>): Promise<Response> => {
    const headers = { 'Accept-Encoding': accept.join(', '), ...fields }
    const response = await handle(new Request(new URL(path, 'http://localhost'), { headers }))
    if (response === undefined) throw new TypeError(`no answer to ${path}`)
    return response
  }
  const ok = await ask({})
  const notModified = await ask({ 'If-None-Match': ok.headers.get('ETag') ?? '' })
  return {
    ok: [...ok.headers].flat(),
    notModified: [...notModified.headers].flat(),
    body: new Uint8Array(await ok.arrayBuffer()),
  }
}
