import { loadSite } from '@serve-dist/server'
import { createFetchHandler } from '@serve-dist/server/fetch'
import { readSiteManifest } from '../../load/fixtures.ts'

/** An answer that is the same for all clients. */
export interface ConstantAnswer {
  /** Names and values. */
  readonly ok: [string, string][]
  readonly notModified: [string, string][]
  readonly body: Uint8Array<ArrayBuffer>
}

/**
 * Returns the answer of each path of a site, for servers that do not negotiate. Our own handler makes the answers, so they
 * have our fields.
 */
export async function readConstantAnswers(
  directory: string,
  accept: readonly string[],
): Promise<Map<string, ConstantAnswer>> {
  const handle = createFetchHandler(await loadSite(directory))
  const ask = async (path: string, fields: Record<string, string>): Promise<Response> => {
    const headers = { 'Accept-Encoding': accept.join(), ...fields }
    const response = await handle(new Request(`http://localhost${path}`, { headers }))
    if (response === undefined) throw new TypeError(`${path}: no answer`)
    return response
  }
  const { files } = await readSiteManifest(directory)
  const answers = new Map<string, ConstantAnswer>()
  for (const path of ['/', ...files.map((file) => encodeURI(`/${file.path}`))]) {
    const ok = await ask(path, {})
    const notModified = await ask(path, { 'If-None-Match': ok.headers.get('etag') ?? '' })
    answers.set(path, {
      ok: [...ok.headers],
      notModified: [...notModified.headers],
      body: new Uint8Array(await ok.arrayBuffer()),
    })
  }
  return answers
}
