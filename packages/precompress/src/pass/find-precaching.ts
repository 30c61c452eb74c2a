import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Manifest, ManifestFile } from '@serve-dist/manifest'

/**
 * The scripts whose precache list names the module of the environment, as Workbox (`url: "…"`) and lists of URLs do.
 * Browsers that have such a service worker never ask for the module again.
 */
export async function findPrecaching(
  folder: string,
  { environment, files }: Pick<Manifest, 'environment' | 'files'>,
): Promise<string[]> {
  if (environment === undefined) return []
  const list = precacheList(environment.path)
  const found: string[] = []
  // A service worker keeps its name, so it is never among the hashed ones.
  for (const { path } of files.filter(mayBeServiceWorker)) {
    const text = await readFile(join(folder, path), 'utf8')
    if (list.test(text.replaceAll(preloads, ''))) found.push(path)
  }
  return found
}

function mayBeServiceWorker({ mediaType, cache, runtime }: ManifestFile): boolean {
  return mediaType.startsWith('text/javascript') && cache !== 'immutable' && runtime !== true
}

/** The list of what Vite preloads with a lazy chunk. */
const preloads = /\(m\.f=\[[^\]]*\]\)/g

function precacheList(path: string): RegExp {
  const name = path.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
  const text = `(["'\`])(?:[^"'\`\\s]*/)?${name}(?:\\?[^"'\`\\s]*)?\\1`
  return new RegExp(String.raw`\burl["']?\s*:\s*${text}|[[,]\s*${text.replace('\\1', '\\2')}\s*[,\]]`)
}
